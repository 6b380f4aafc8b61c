// The GATT service eegsync companion, as a central sees it: what its values mean, and the bytes of commands.

const uuid = (number) => `9984${number}-8bc2-4951-8f5e-3f8d7b94806a`;
export const SERVICE = uuid("0001");
export const STATUS = uuid("0002");
export const HEADSETS = uuid("0003");
export const CONTROL = uuid("0004");

/** The severities, as they are numbered there. */
export const SEVERITIES = ["idle", "good", "working", "waiting"];
/** Opcodes of the control point. */
export const OPCODES = { record: 1, stop: 2, mark: 3 };
const VERSION = 1;
const NONE = 0xFFFFFFFF;
/** The bytes of a record before its texts. */
const FIXED = 16;

const decoder = new TextDecoder();
const bytes = (view, from, to = view.byteLength) =>
  new Uint8Array(view.buffer, view.byteOffset + from, Math.max(0, Math.min(to, view.byteLength) - from));

/** The value of the status; null where it is of another version or too short. */
export function status(view) {
  if (view.byteLength < 4 || view.getUint8(0) !== VERSION) return null;
  return {
    severity: SEVERITIES[view.getUint8(1)] ?? "waiting", paused: (view.getUint8(2) & 1) !== 0, count: view.getUint8(3),
    sentence: decoder.decode(bytes(view, 4)),
  };
}

/** A record of a headset. A notification may end before its texts: these are null then. */
export function record(view) {
  if (view.byteLength < FIXED) return null;
  const seconds = view.getUint32(4, true);
  const battery = view.getUint8(3);
  let offset = FIXED;
  const text = () => {
    if (offset >= view.byteLength) return null;
    const end = offset + 1 + view.getUint8(offset);
    const found = end <= view.byteLength ? decoder.decode(bytes(view, offset + 1, end)) : null;
    offset = end;
    return found;
  };
  return {
    index: view.getUint8(0), severity: SEVERITIES[view.getUint8(1)] ?? "waiting", wanted: (view.getUint8(2) & 1) !== 0,
    battery: battery <= 100 ? battery : null, seconds: seconds === NONE ? null : seconds,
    missing: view.getUint32(8, true), gaps: view.getUint32(12, true), state: text(), name: text(),
  };
}

/** All records of a read value, each behind its length. */
export function records(view) {
  const found = [];
  for (let offset = 0; offset < view.byteLength;) {
    const end = offset + 1 + view.getUint8(offset);
    if (end > view.byteLength) break;
    const one = record(new DataView(view.buffer, view.byteOffset + offset + 1, end - offset - 1));
    if (one) found.push(one);
    offset = end;
  }
  return found;
}

/** What is written to the control point. */
export const command = (name, text) => new Uint8Array([OPCODES[name], ...new TextEncoder().encode(text)]);

/** What has become of a command: its exit code, 0 where it was done, and a sentence. */
export const outcome = (view) => ({ code: view.getUint8(1), sentence: decoder.decode(bytes(view, 2)) });
