// Makes the plugin of pytest that the server hands out, FOLDER/src/ballast_pytest.py: its source, with the version and the tables of CI systems.
//   node scripts/bundle-pytest.mjs FOLDER
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeCompressedCopies } from './compressed-copies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2], 'src');

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { systems, unknownSystem, forges, forgesByHost } = await import(pathToFileURL(join(folder, 'node', 'ci', 'systems.js')).href);
// JSON of texts, lists and objects is Python, too.
const table = [...systems, unknownSystem].map(system => `    ${JSON.stringify(system)},\n`).join('');
const python = value => JSON.stringify(value).replaceAll('null', 'None');
const values = { VERSION: python(version), SYSTEMS: `[\n${table}]`, FORGES: python(forges), FORGES_BY_HOST: python(forgesByHost) };
const source = readFileSync(join(root, 'src', 'node', 'runners', 'pytest', 'ballast_pytest.py'), 'utf8');
const licence = readFileSync(join(root, 'LICENSE'), 'utf8').trim().replace(/^/gm, '# ').replace(/ +$/gm, '');
const text = `${source.replace(/^(VERSION|SYSTEMS|FORGES|FORGES_BY_HOST) = .*$/gm, (_, name) => `${name} = ${values[name]}`)}\n\n${licence}\n`;

const file = join(folder, 'ballast_pytest.py');
writeFileSync(file, text);
writeCompressedCopies(file);
