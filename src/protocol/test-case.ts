/**
 * Returns the file of a path that names test cases in it: `spec/a_spec.rb[1:2]`, `test/a.py::TestB::test_c[d]`,
 * `a.spec.ts:12`, `a.feature:12:30`. Null: the path is a file itself, or the name of a unit, such as the binary `shop::api` of a crate: what
 * precedes `::` in a test case has a folder or an extension.
 */
export function fileOf(path: string): string | null {
  if (!path.includes(':') && !path.endsWith(']')) return null;
  const members = path.indexOf('::');
  if (members >= 0 && !/[./\\]/.test(path.slice(0, members))) return null;
  const end = members >= 0 ? members : path.endsWith(']') ? startOfIds(path) : startOfLines(path);
  return end > 0 && end < path.length && !/[/\\]/.test(path[end - 1]!) ? path.slice(0, end) : null;
}

/** Returns where a list of ids in brackets begins, or the end of the path if it has none. */
function startOfIds(path: string): number {
  const start = path.lastIndexOf('[');
  return /^[\d:,]+$/.test(path.slice(start + 1, -1)) ? start : path.length;
}

/** Returns where line numbers after colons begin, or the end of the path if it has none. */
function startOfLines(path: string): number {
  let end = path.length;
  for (;;) {
    const colon = path.lastIndexOf(':', end - 1);
    if (colon < 0 || !/^\d+$/.test(path.slice(colon + 1, end))) return end;
    end = colon;
  }
}
