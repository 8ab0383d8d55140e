/** The JSON of an object with test files, encoded as a JSON array, as its last property `test_files`. */
export function withFiles(head: object, files: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head).slice(0, -1)},"test_files":`), files, Buffer.from('}')]);
}
