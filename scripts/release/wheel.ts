import { createHash } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';

/**
 * Returns a package of the plugin of pytest for pip, by its name. The same plugin gives the same bytes.
 * @param plugin the file as the server hands it out
 */
export function wheelOf(version: string, plugin: Uint8Array, licence: Uint8Array): { name: string; bytes: Uint8Array } {
  const folder = `ballast_pytest-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    'Name: ballast-pytest',
    `Version: ${version}`,
    'Summary: The plugin of pytest of Ballast, which splits test suites over the parallel nodes of a CI build',
    'License: MIT',
    'Classifier: Framework :: Pytest',
    'Requires-Python: >=3.8',
    'Requires-Dist: pytest>=7',
  ];
  const files: Record<string, Uint8Array> = {
    'ballast_pytest.py': plugin,
    [`${folder}/METADATA`]: lines(metadata),
    [`${folder}/WHEEL`]: lines(['Wheel-Version: 1.0', 'Generator: ballast', 'Root-Is-Purelib: true', 'Tag: py3-none-any']),
    // pytest registers a plugin once if its name here is that of -p.
    [`${folder}/entry_points.txt`]: lines(['[pytest11]', 'ballast_pytest = ballast_pytest']),
    [`${folder}/LICENSE`]: licence,
  };
  const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64url');
  const record = Object.entries(files).map(([path, bytes]) => `${path},sha256=${digest(bytes)},${bytes.length}`);
  const whole = { ...files, [`${folder}/RECORD`]: lines([...record, `${folder}/RECORD,,`]) };
  return { name: `ballast_pytest-${version}-py3-none-any.whl`, bytes: zipSync(whole, { mtime: '1980-01-01T00:00:00' }) };
}

const lines = (texts: readonly string[]) => strToU8(`${texts.join('\n')}\n`);
