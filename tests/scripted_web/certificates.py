"""Valid and invalid TLS certificates for tests."""

import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@dataclass(frozen=True)
class CertificateAuthority:
    """Signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def make(cls, name: str = "Test authority") -> "CertificateAuthority":
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, name, key, -DAY, DAY)
        certificate = builder.add_extension(x509.BasicConstraints(True, 0), True).sign(key, hashes.SHA256())
        return cls(key, certificate)

    def trusted(self) -> ssl.SSLContext:
        """A client's context that trusts this authority alone."""
        return ssl.create_default_context(cadata=self.certificate.public_bytes(serialization.Encoding.PEM).decode())

    def server(
        self, host: str, starts: timedelta = timedelta(days=-1), ends: timedelta = timedelta(days=1)
    ) -> ssl.SSLContext:
        """A server's context with a certificate for `host`, valid from and to so far from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(host, "Test authority", key, starts, ends)
        names = x509.SubjectAlternativeName([_general_name(host)])
        return _server(key, builder.add_extension(names, False).sign(self.key, hashes.SHA256()))


def _general_name(host: str) -> x509.GeneralName:
    return x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, starts: timedelta, ends: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + starts)
        .not_valid_after(now + ends)
    )


def _server(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = serialization.Encoding.PEM
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder, "chain.pem")
        chain.write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            + certificate.public_bytes(pem)
        )
        context.load_cert_chain(chain)
    return context
