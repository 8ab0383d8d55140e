import { readFileSync } from 'node:fs';

/** The text of a hook in this folder. The bundles contain the texts instead, see scripts/bundle-program.mjs. */
export const hookText = (name: 'ballast_piece.py' | 'ballast_piece.rb'): string => readFileSync(new URL(name, import.meta.url), 'utf8');
