// Reads the request body, limited so that several copies fit into a Worker's 128 MB of memory.

import { Refusal } from "./refusal.js";

const MOST_BYTES = 16 * 1024 * 1024;

/** The JSON object in the body. */
export async function readJson(request) {
  const text = await readText(request);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, "bad_request", "the body is not JSON");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Refusal(400, "bad_request", "the body must be a JSON object");
  }
  return value;
}

async function readText(request) {
  if (Number(request.headers.get("content-length")) > MOST_BYTES) throw tooLarge();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  let text = "";
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(400, "bad_request", "the body is not UTF-8");
    throw error;
  }
}

function tooLarge() {
  return new Refusal(413, "too_large", `the body is larger than ${MOST_BYTES} bytes`);
}
