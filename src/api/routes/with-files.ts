const CLOSING_BRACE = 0x7d;

/** The JSON of an object with test files, encoded as a JSON array, as its last property `test_files`. */
export function withFiles(head: object, files: Buffer): Buffer {
  const opening = `${JSON.stringify(head).slice(0, -1)},"test_files":`;
  const start = Buffer.byteLength(opening);
  const json = Buffer.allocUnsafe(start + files.length + 1);
  json.write(opening);
  files.copy(json, start);
  json[json.length - 1] = CLOSING_BRACE;
  return json;
}
