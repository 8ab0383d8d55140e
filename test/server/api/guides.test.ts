import { describe, expect } from 'vitest';
import { SharedServer, testsWith } from '../../harness/server.js';

describe('the guides for programs that read', () => {
  const it = testsWith(new SharedServer({ dashboard: 'off' }));

  it('are listed in llms.txt, and each is there as Markdown', async ({ server }) => {
    const list = await fetch(`${server.url}/llms.txt`);
    expect(list.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    const text = await list.text();
    expect(text).toMatch(
      /^# Ballast\n\n> Ballast makes the parallel nodes .*\n\n## Connect a CI job\n\n- \[Queue, split or plugin: which\?\]\(\/docs\/queue-split-or-plugin\.md\): /,
    );
    const paths = [...text.matchAll(/\]\((\/docs\/.+?)\)/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const guide = await fetch(server.url + path);
      expect({ path, status: guide.status, type: guide.headers.get('Content-Type') }).toEqual({
        path,
        status: 200,
        type: 'text/markdown; charset=utf-8',
      });
      const markdown = await guide.text();
      expect(markdown).toMatch(/^# \S/);
      // Links to other guides lead to where they are served. Those to other files of the source lead nowhere.
      const links = [...markdown.matchAll(/\]\((?!https?:|#|(?:\.\.\/){2}|\.\.\/images\/)([^)\s#]+)/g)].map(([, link]) => link!);
      for (const link of links) expect(paths).toContain(new URL(link, server.url + path).pathname);
    }
  });

  it('are no other files', async ({ server }) => {
    for (const path of ['/docs/nothing.md', '/docs/..%2fREADME.md', '/docs/images/build.png', '/docs/llms.txt'])
      expect({ path, status: (await fetch(server.url + path)).status }).toEqual({ path, status: 404 });
  });
});
