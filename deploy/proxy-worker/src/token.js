// Authentication. Two tokens can be valid at once, so that one can be replaced without an outage.

const SHORTEST = 32;
const FEWEST_DIFFERENT = 10;
const LEFT_FROM_AN_EXAMPLE = /change.?me|replace.?me|example|placeholder|your.?token/i;

/** What is wrong with the tokens of this deployment; null if they are valid. */
export function unsafeTokens(env) {
  if (!env.PROXY_TOKEN) return "the secret PROXY_TOKEN is not set: run `wrangler secret put PROXY_TOKEN`";
  const weak = ["PROXY_TOKEN", "PROXY_TOKEN_OLD"].find((name) => env[name] && !isStrong(env[name]));
  return weak ? `the secret ${weak} is too easy to guess: set ${SHORTEST} or more random characters` : null;
}

function isStrong(token) {
  return (
    typeof token === "string" &&
    token.length >= SHORTEST &&
    new Set(token).size >= FEWEST_DIFFERENT &&
    !LEFT_FROM_AN_EXAMPLE.test(token)
  );
}

/** Whether the request has a valid token; compares in constant time. */
export async function isAllowedIn(request, env) {
  const header = request.headers.get("authorization") ?? "";
  const given = await digest(/^Bearer (.+)$/i.exec(header)?.[1] ?? "");
  const known = await digest(env.PROXY_TOKEN);
  const old = await digest(env.PROXY_TOKEN_OLD || env.PROXY_TOKEN);
  const isKnown = crypto.subtle.timingSafeEqual(given, known);
  const isOld = crypto.subtle.timingSafeEqual(given, old);
  return isKnown || isOld;
}

// Digests have equal length, and a guess does not control which of their bytes differ.
function digest(text) {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
