import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OTHER_PAGES, PROJECT_PAGES, projectPath, routeOf, withQuery } from '../../../src/dashboard/routes/routes.js';
import { titleOf } from '../../../src/dashboard/routes/title.js';
import { isPage } from '../../../src/server/api/dashboard/pages.js';

describe('an address', () => {
  it.each([
    ['/', { page: 'projects', project: null, id: '' }],
    ['/p/web', { page: 'builds', project: 'web', id: '' }],
    ['/p/web/builds/4d5e', { page: 'build', project: 'web', id: '4d5e' }],
    ['/p/web/files/file', { page: 'file', project: 'web', id: '' }],
    ['/p/web/flaky', { page: 'flaky', project: 'web', id: '' }],
    ['/p/web/what-if/', { page: 'what-if', project: 'web', id: '' }],
    ['/docs/api', { page: 'docs', project: null, id: 'api' }],
    ['/sign-in', { page: 'sign-in', project: null, id: '' }],
  ])('shows its page: %s', (path, route) => {
    expect(routeOf(path)).toEqual(route);
    expect(isPage(path)).toBe(true);
  });

  it.each(['/p', '/p/web/build', '/p/web/file', '/p/web/builds/1/2', '/p/web/nodes/3', '/server/x', '/nothing', '/p/web/constructor'])(
    'that no page has shows nothing: %s',
    path => {
      expect(routeOf(path).page).toBe('not-found');
      expect(isPage(path)).toBe(false);
    },
  );

  it('with a broken escape is read as it stands', () => {
    expect(routeOf('/p/100%/builds')).toEqual({ page: 'builds', project: '100%', id: '' });
  });

  it('of a project is read back, whatever its name', () => {
    const name = fc.string({ minLength: 1, unit: fc.constantFrom(...'a/%?#&+ .:ü🙂') });
    fc.assert(
      fc.property(name, fc.constantFrom(...PROJECT_PAGES), (project, page) => {
        const { pathname } = new URL(projectPath(project, page, 'b'), 'http://localhost');
        // A browser resolves the segments "." and "..", also when they are escaped.
        fc.pre(project !== '.' && project !== '..');
        expect(routeOf(pathname)).toEqual({ page, project, id: page === 'build' ? 'b' : '' });
        expect(isPage(pathname)).toBe(true);
      }),
    );
  });

  it('of each other page is its name', () => {
    for (const page of OTHER_PAGES) expect(routeOf(`/${page}`).page).toBe(page);
  });
});

describe('a title', () => {
  it.each([
    ['/', null, 'Projects · Ballast'],
    ['/p/web/builds?q=branch:main', null, 'branch:main · Builds · web · Ballast'],
    ['/p/web/builds/1?q=cart&branch=x', null, 'Build · web · Ballast'],
    ['/p/web/builds/1?q=cart&branch=x', '✕ main 4d5e6f', '✕ main 4d5e6f · web · Ballast'],
    ['/p/web/builds/1?tab=why', '✕ main 4d5e6f', '✕ main 4d5e6f · Why · web · Ballast'],
    ['/p/web/files?branch=fix&sort=path', null, 'fix · Files · web · Ballast'],
    ['/p/web/files/file?path=spec/checkout_spec.rb', null, 'spec/checkout_spec.rb · web · Ballast'],
    ['/p/web/files/file?path=spec/%E2%80%AEbr.tset', null, 'spec/\\u202ebr.tset · web · Ballast'],
    ['/p/%E2%80%AEbew/nodes', null, 'Nodes · \\u202ebew · Ballast'],
    ['/p/web/what-if', 'main 4d5e6f', 'main 4d5e6f · What-if · web · Ballast'],
    ['/docs/pieces', 'pieces', 'pieces · Docs · Ballast'],
    ['/bogus', null, 'Not found · Ballast'],
  ])('begins with what is specific: %s', (address, subject, title) => {
    const { pathname, searchParams } = new URL(address, 'http://localhost');
    expect(titleOf(routeOf(pathname), searchParams, subject)).toBe(title);
  });
});

describe('a query', () => {
  it('leaves out what is empty', () => {
    expect(withQuery('/a', { b: '', c: null, d: undefined })).toBe('/a');
    expect(withQuery('/a', { b: 0, c: 'x&y=z' })).toBe('/a?b=0&c=x%26y%3Dz');
  });
});
