// node serve.mjs PORT CONFIGURATION: a provider with these clients and accounts. Any password is right.
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [port, written] = process.argv.slice(2);
const { clients, accounts, claimsInIdToken = false } = JSON.parse(written);
const issuer = `http://127.0.0.1:${port}`;

// New keys with each start.
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" };

const provider = new Provider(issuer, {
  clients,
  jwks: { keys: [key] },
  cookies: { keys: ["a key for tests"] },
  scopes: ["openid", "profile", "email", "groups"],
  claims: {
    openid: ["sub"],
    profile: ["preferred_username", "name"],
    email: ["email", "email_verified"],
    groups: ["groups"],
  },
  conformIdTokenClaims: !claimsInIdToken,
  findAccount: (_, sub) =>
    accounts[sub] && { accountId: sub, claims: async () => ({ sub, ...accounts[sub] }) },
  // Nobody is asked for consent.
  async loadExistingGrant(ctx) {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope("openid profile email groups");
    await grant.save();
    return grant;
  },
});
provider.listen(Number(port), "127.0.0.1");
