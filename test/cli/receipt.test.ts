import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keyId, signEnvelope } from '../../src/base/dsse.js';
import { STATEMENT_PAYLOAD, toStatement } from '../../src/protocol/receipt.js';
import { printed, said } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const [signer, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const PUBLIC = ['--public-key', 'public.pem'];
const UNTRUSTED = 'receipt.json is no receipt that can be trusted';

const pem = (key: KeyObject) => key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' }) as string;
const statement = toStatement({
  commit: 'd'.repeat(40),
  tree: '9'.repeat(40),
  test_files: [
    { path: 'a.spec.ts', outcome: 'passed' },
    { path: 'b.spec.ts', outcome: 'flaky' },
  ],
  list_digest: 'a'.repeat(64),
  keys: [],
  command_digest: null,
  proved_by: [],
  url: 'https://ci.example.com/1',
});
const envelope = (payload: object = statement) =>
  JSON.stringify(signEnvelope(STATEMENT_PAYLOAD, Buffer.from(JSON.stringify(payload)), signer.privateKey));

/** A folder with a receipt, the key that signed it, and another key. */
function setUp(files: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  const all = { 'receipt.json': envelope(), 'public.pem': pem(signer.publicKey), 'other.pem': pem(other.publicKey), ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(cwd, name), text);
  const verify = (args: readonly string[], stdin = '') => runInProcess(['receipt', 'verify', ...args], {}, { cwd, stdin });
  return { cwd, verify };
}

it('a receipt that a given key signed is told in six lines, from a file or from stdin', async () => {
  const { verify } = setUp();
  const lines = [
    'result: WARNED',
    `tree: ${'9'.repeat(40)}`,
    `commit: ${'d'.repeat(40)}`,
    'test files: 1 passed, 1 passed only when repeated, 0 failed',
    'CI run: https://ci.example.com/1',
    `signed by: ${keyId(signer.publicKey)}`,
  ];
  const told = printed(`${lines.join('\n')}\n`);
  expect(await verify(['receipt.json', ...PUBLIC])).toEqual(told);
  expect(await verify(['-', ...PUBLIC], envelope())).toEqual(told);
});

it('the statement is printed as JSON with --json', async () => {
  const { verify } = setUp();
  expect(await verify(['receipt.json', ...PUBLIC, '--json'])).toEqual(printed(`${JSON.stringify(statement)}\n`));
});

it('one of several keys is enough, from several files or from one', async () => {
  const { verify } = setUp({ 'both.pem': pem(other.publicKey) + pem(signer.publicKey) });
  for (const flags of [
    ['--public-key', 'other.pem', ...PUBLIC],
    ['--public-key', 'both.pem'],
  ])
    expect(await verify(['receipt.json', ...flags])).toMatchObject({ code: 0, stderr: '' });
});

it('a genuine receipt that says that tests failed is printed, and is no success', async () => {
  const { predicate } = statement;
  const failed = { ...statement, predicate: { ...predicate, result: 'FAILED', failedTests: ['c.spec.ts'] } };
  const { verify } = setUp({ 'receipt.json': envelope(failed) });
  const stderr = 'ballast: the receipt is genuine, but says that tests failed: c.spec.ts\n';
  expect(await verify(['receipt.json', ...PUBLIC])).toEqual({ code: 1, stdout: expect.stringMatching(/^result: FAILED\n/), stderr });
  expect(await verify(['receipt.json', ...PUBLIC, '--json'])).toEqual({ code: 1, stdout: `${JSON.stringify(failed)}\n`, stderr });
  const contradicts = setUp({ 'receipt.json': envelope({ ...failed, predicate: { ...failed.predicate, result: 'PASSED' } }) });
  expect(await contradicts.verify(['receipt.json', ...PUBLIC])).toMatchObject({ code: 1, stderr });
});

it.each([
  ['of another key', envelope(), 'other.pem', /: no signature is right: /],
  ['with a changed byte', envelope().replace('"payload":"eyJ', '"payload":"eyK'), 'public.pem', /: no signature is right: /],
  ['cut off', envelope().slice(0, -9), 'public.pem', /: the envelope is not JSON: /],
  ['that is empty', '', 'public.pem', /: the envelope is not JSON: /],
  ['that is a statement nobody signed', JSON.stringify(statement), 'public.pem', /: the JSON is no envelope: /],
  [
    'that states something else',
    envelope({ ...statement, predicateType: 'https://slsa.dev/provenance/v1' }),
    'public.pem',
    /: what was signed states "https:\/\/slsa.dev\/provenance\/v1", not "https:\/\/in-toto.io\/attestation\/test-result\/v0.1"/,
  ],
  ['that signs no statement', envelope({ result: 'PASSED' }), 'public.pem', /: what was signed is no statement of the type /],
  ['without a result', envelope({ ...statement, predicate: {} }), 'public.pem', /: fields of the statement are missing, /],
])('a receipt %s is refused with a sentence', async (_, text, key, message) => {
  const { code, stdout, stderr } = await setUp({ 'receipt.json': text }).verify(['receipt.json', '--public-key', key]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.startsWith(`ballast: ${UNTRUSTED}: `)).toBe(true);
});

it('a file that cannot be read, or is no public key of Ed25519, is wrong usage, and named as what it is', async () => {
  const { cwd, verify } = setUp({
    'private.pem': pem(signer.privateKey),
    'ec.pem': pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey),
    'ssh.pub': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@here\n',
    'damaged.pem': pem(signer.publicKey).replace('MCow', 'MCox'),
    'certificate.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  });
  mkdirSync(join(cwd, 'folder'));
  const secret = 'which signs receipts and must stay secret: give the public key that belongs to it';
  for (const [file, sentence] of [
    ['private.pem', `private.pem has a private key, ${secret}`],
    ['ec.pem', 'ec.pem has a public key of the type ec: give one of Ed25519'],
    ['ssh.pub', 'ssh.pub has no public key in PEM: such a key begins with -----BEGIN PUBLIC KEY-----'],
    ['damaged.pem', 'damaged.pem has a damaged public key: give one of Ed25519'],
    ['certificate.pem', 'certificate.pem has a certificate, not a public key: give one of Ed25519'],
    ['missing.pem', 'cannot read missing.pem: there is no such file'],
  ] as const)
    expect(await verify(['receipt.json', '--public-key', file])).toEqual(said(2, sentence));
  expect(await verify(['missing.json', ...PUBLIC])).toEqual(said(2, 'cannot read missing.json: there is no such file'));
  expect(await verify(['folder', ...PUBLIC])).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read folder: EISDIR') });
  expect(await verify(['receipt.json'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--public-key') });
});
