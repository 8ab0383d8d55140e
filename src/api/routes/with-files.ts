const CLOSING_BRACE = 0x7d;
const SLAB_BYTES = 262_144;
/** What is left of the last slab: one allocation serves about a hundred responses. */
let slab: Buffer = Buffer.alloc(0);

/** The JSON of an object with test files, encoded as a JSON array, as its last property `test_files`. */
export function withFiles(head: object, files: Buffer): Buffer {
  const opening = `${JSON.stringify(head).slice(0, -1)},"test_files":`;
  const start = Buffer.byteLength(opening);
  const length = start + files.length + 1;
  if (slab.length < length) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
  const json = slab.subarray(0, length);
  slab = slab.subarray(length);
  json.write(opening);
  files.copy(json, start);
  json[length - 1] = CLOSING_BRACE;
  return json;
}
