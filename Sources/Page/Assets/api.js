// What the program is asked. Every answer that is none is an Error with a sentence for a person.

import { text } from "./text.js";

async function answer(response) {
  if (response.ok) return response;
  let problem = text.failed(response.status);
  try {
    problem = (await response.json()).problem ?? problem;
  } catch {
    // The sentence above stands.
  }
  throw new Error(problem);
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { cache: "no-cache", signal: AbortSignal.timeout(55000), ...options });
  } catch {
    throw new Error(text.unreachable);
  }
  return answer(response);
}

/** A document of JSON. */
export const get = async (path) => (await ask(path)).json();

/** Has something done. */
export async function post(path, body) {
  const headers = { "Content-Type": "application/json", "X-Eegsync-Control": "1" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** Numbers to draw: a description of JSON behind its length, and 32-bit numbers behind it. */
export async function frame(path) {
  const buffer = await (await ask(path)).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { about, buffer, offset: 4 + length };
}
