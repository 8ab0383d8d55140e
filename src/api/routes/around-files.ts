/** The JSON of an object around its last property `test_files`, whose value is encoded already. */
export function aroundFiles(head: object): [before: string, after: string] {
  return [`${JSON.stringify(head).slice(0, -1)},"test_files":`, '}'];
}
