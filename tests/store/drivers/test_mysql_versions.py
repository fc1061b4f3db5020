"""MariaDB is accepted, MySQL is refused in one line."""

import pytest

from feedmill.errors import BadSetting
from feedmill.store.drivers.mysql import require_mariadb


@pytest.mark.parametrize("version", ["10.11.19-MariaDB-0+deb12u1", "5.5.5-10.6.12-MariaDB", "11.4.2-mariadb"])
def test_mariadb_is_accepted(version: str) -> None:
    require_mariadb(version)


@pytest.mark.parametrize("version", ["8.0.36", "8.4.3", "9.7.4-2"])
def test_mysql_is_refused_with_what_to_do(version: str) -> None:
    with pytest.raises(BadSetting, match=rf"MySQL {version}.*use MariaDB 10\.6"):
        require_mariadb(version)
