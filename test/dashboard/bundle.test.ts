import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../src/dashboard/', import.meta.url));
const assets = readdirSync(`${folder}assets`);
const guides = assets.filter(name => /^guide-.*\.html$/.test(name));
const textOf = (name: string) => readFileSync(`${folder}assets/${name}`, 'utf8');
const page = readFileSync(`${folder}index.html`, 'utf8');

describe('the bundle of the dashboard', () => {
  it('is under 150 kB compressed, without the guides', () => {
    const app = assets.filter(name => name.endsWith('.br') && !name.startsWith('guide-'));
    const bytes = app.reduce((sum, name) => sum + statSync(`${folder}assets/${name}`).size, 0);
    expect(app.length).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeLessThan(150_000);
  });

  it('has a hash in the name of each file, and compressed copies beside all but pictures', () => {
    for (const name of assets.filter(name => !/\.(br|gz)$/.test(name))) {
      expect(name).toMatch(/-[0-9A-Za-z]{8}\.(js|css|svg|html|png)$/);
      if (name.endsWith('.png')) continue;
      const content = readFileSync(`${folder}assets/${name}`);
      expect(brotliDecompressSync(readFileSync(`${folder}assets/${name}.br`)).equals(content)).toBe(true);
      expect(gunzipSync(readFileSync(`${folder}assets/${name}.gz`)).equals(content)).toBe(true);
    }
  });

  it('has a page that loads only files of the bundle, without inline code', () => {
    const references = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name]) => name);
    expect(references.length).toBeGreaterThanOrEqual(3);
    for (const name of references) expect(assets).toContain(name);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\{\{/);
  });

  it('has guides without code, which link to guides that exist', () => {
    const names = guides.map(name => /^guide-(.*)-\w+\.html$/.exec(name)![1]!);
    expect(names).toContain('api');
    for (const name of guides) {
      const html = textOf(name);
      expect(html).not.toMatch(/<(script|style|iframe|svg)|<[^>]*\s(on\w+|style)=|href="javascript:/i);
      for (const [, target] of html.matchAll(/href="\/docs\/([\w-]+)/g)) expect(names).toContain(target);
    }
  });

  it('has the pictures of the guides, with their sizes and descriptions, in at most 500 kB', () => {
    const shown = [
      ...guides
        .map(textOf)
        .join('')
        .matchAll(/<img[^>]*>/g),
    ].map(([tag]) => tag);
    const pictures = assets.filter(name => name.endsWith('.png'));
    const named = shown.map(
      tag => /^<img src="\/assets\/([\w-]+\.png)" alt="[^"]{10,}" width="\d+" height="\d+" loading="lazy">$/.exec(tag)?.[1],
    );
    expect(new Set(named)).toEqual(new Set(pictures));
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures.reduce((sum, name) => sum + statSync(`${folder}assets/${name}`).size, 0)).toBeLessThan(500_000);
  });
});
