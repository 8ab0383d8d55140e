import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** The names of the packages in a bundle, given the metafile of esbuild. */
export function packagesIn({ inputs }) {
  return [...new Set(Object.keys(inputs).flatMap(path => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))];
}

/** The licences of the packages in a bundle, as one text. */
export function licencesOf(metafile) {
  return packagesIn(metafile)
    .map(name => `${name}\n\n${licenceOf(join(modules, name))}`)
    .join('\n');
}

function licenceOf(folderOfPackage) {
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'License']) {
    try {
      return readFileSync(join(folderOfPackage, name), 'utf8');
    } catch {
      // Packages name the file differently.
    }
  }
  const { license } = JSON.parse(readFileSync(join(folderOfPackage, 'package.json'), 'utf8'));
  return `${license}\n`;
}
