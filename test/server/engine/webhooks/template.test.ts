import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { EventWriter } from '../../../../src/server/engine/webhooks/event.js';
import { signatureOf } from '../../../../src/server/engine/webhooks/signature.js';
import { bodyOf } from '../../../../src/server/engine/webhooks/template.js';

const build = { id: 'b1', branch: 'fix "it" <!channel>', commit_hash: 'a'.repeat(40) };
const failed = { missing: 1, files: 12, losses: 'Node 1 took no files: 1 test file is missing.' };
const event = new EventWriter('web shop', 'https://ballast.example.com').gateFailed(build, failed);
const TEXT =
  'web shop, fix "it" <!channel>, commit aaaaaaaa: the gate failed: 1 of 12 test files was not recorded. Node 1 took no files: 1 test file is missing. https://ballast.example.com/p/web%20shop/builds/b1';
const URL = 'https://ballast.example.com/p/web%20shop/builds/b1';

it('without a template, the event is sent as JSON', () => {
  const { id: _, commit_hash: commit, branch } = build;
  expect(JSON.parse(bodyOf(null, event))).toEqual({
    ...{ event: 'gate_failed', project: 'web shop', branch, commit, text: TEXT, url: URL, build_url: URL },
    ...{ missing_files: 1, test_files: 12, verdict: failed.losses },
  });
  expect(bodyOf('json', event)).toBe(bodyOf(null, event));
});

it('for Slack, a name cannot mention anybody', () => {
  const { text } = JSON.parse(bodyOf('slack', event)) as { text: string };
  expect(text).toBe(TEXT.replace('<!channel>', '&lt;!channel&gt;'));
});

it('in a template, values cannot end the string that they are in, nor have words', () => {
  const template = '{"content": "{event} of {branch}", "list": [{"at": "{url}"}, 7, null], "{text}": "{ text } {}"}';
  expect(JSON.parse(bodyOf(template, { ...event, branch: '", "x": "{text}\\' }))).toEqual({
    content: 'gate_failed of ", "x": "{text}\\',
    list: [{ at: URL }, 7, null],
    '{text}': '{ text } {}',
  });
});

it('without a public address, an event has no links', () => {
  const { text, url, build_url } = new EventWriter('web', null).gateFailed(build, failed);
  expect([text.includes('http'), url, build_url]).toEqual([false, '', '']);
});

it('events of files and nodes say how much longer they take, with links to their pages', () => {
  const writer = new EventWriter('web', 'https://b');
  const grown = writer.fileGrew({ ...build, branch: 'main' }, { path: 'a b_spec.rb', before: 20, after: 45, commit_hash: 'c7' });
  expect(grown.text).toBe(
    'web, main, commit aaaaaaaa: a b_spec.rb has taken 45 s since commit c7, and took 20 s before. https://b/p/web/files/file?path=a+b_spec.rb&branch=main',
  );
  const slow = writer.runnerSlow({ ...build, branch: 'main' }, { node_index: 3, node_total: 4, slowness: 1.25, builds: 20 });
  expect(slow.text).toBe(
    'web, main, commit aaaaaaaa: node 3 of 4 is slow: in the last 20 builds it usually took 1.25 times as long as the others. https://b/p/web/nodes?branch=main&node_total=4',
  );
});

it('a signature is made of the timestamp and the body', () => {
  const expected = createHmac('sha256', 'secret').update('1700000000.{"a":1}').digest('hex');
  expect(signatureOf('secret', '1700000000', '{"a":1}')).toBe(`sha256=${expected}`);
});
