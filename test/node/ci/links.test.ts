import { describe, expect, it } from 'vitest';
import { nodeLinks } from '../../../src/node/ci/links.js';
import { systems } from '../../../src/node/ci/systems.js';
import { limits } from '../../../src/protocol/limits.js';
import { linkedSystems } from './linked-systems.js';

describe('the addresses of a node', () => {
  it.each(linkedSystems)('on %s follow from its variables', (_, environment, links) => {
    expect(nodeLinks(environment)).toEqual(links);
  });

  it('are tested for every CI system that tells them', () => {
    const telling = systems.filter(({ links }) => Object.keys(links).length > 0);
    expect(new Set(linkedSystems.map(([name]) => name))).toEqual(new Set(telling.map(({ name }) => name)));
  });

  it('have no password, and are left out where they are no address or too long', () => {
    const jenkins = { JENKINS_URL: 'http://j' };
    expect(nodeLinks({ ...jenkins, BUILD_URL: 'https://me:secret@ci.example.com/job/5/' })).toEqual({
      job_url: 'https://ci.example.com/job/5/',
    });
    for (const BUILD_URL of [
      '',
      ' ',
      'job/5',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://',
      `https://ci/${'a'.repeat(limits.linkMaxCharacters)}`,
    ])
      expect(nodeLinks({ ...jenkins, BUILD_URL }), BUILD_URL).toEqual({});
    expect(nodeLinks({})).toEqual({});
  });

  it.each([
    'git@github.com:acme/web.git',
    'org-7@github.com:acme/web.git',
    'ssh://git@github.com/acme/web.git',
    'ssh://git@github.com:22/acme/web.git',
    'https://github.com/acme/web.git',
    'https://x-access-token:secret@github.com/acme/web',
    'http://github.com/acme/web/',
  ])('are those of the repository %s', GIT_URL => {
    expect(nodeLinks({ JENKINS_URL: 'http://j', GIT_URL })).toEqual({
      commit_url: 'https://github.com/acme/web/commit/{commit}',
      diff_url: 'https://github.com/acme/web/compare/{before}...{commit}',
    });
  });

  it('of a repository are not known on a host whose pages are not known, or on this machine', () => {
    for (const GIT_URL of [
      'git@git.example.com:acme/web.git',
      'https://git.example.com/acme/web',
      '/srv/git/web.git',
      '../web',
      'file:///srv/web',
    ])
      expect(nodeLinks({ JENKINS_URL: 'http://j', GIT_URL }), GIT_URL).toEqual({});
  });
});
