import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Envelope, keyId, MAX_ENVELOPE_BYTES, openEnvelope, signEnvelope } from '../../src/base/dsse.js';

const TYPE = 'text/plain';
const BODY = Buffer.from('two bytes: é?>~');
const [signer, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const envelope = signEnvelope(TYPE, BODY, signer.privateKey);

const open = (changed: unknown, ...keys: KeyObject[]) =>
  openEnvelope(JSON.stringify(changed), TYPE, keys.length > 0 ? keys : [signer.publicKey]);
const withSignature = (sig: string): Envelope => ({ ...envelope, signatures: [{ sig }] });
const [{ sig: signature }] = envelope.signatures as [{ sig: string }];

const WRONG = 'no signature is right: the envelope was changed after it was signed, or signed with another key';

/** The bytes of a text in base64, with one of their bits changed, for each of the bits. */
function* damaged(base64: string): Generator<string> {
  const bytes = Buffer.from(base64, 'base64');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    yield copy.toString('base64');
  }
}

describe('an envelope', () => {
  it('gives its payload and the key to whoever has the public key, if it is as it was signed', () => {
    const { payload, key } = open(envelope, other.publicKey, signer.publicKey);
    expect(payload).toEqual(BODY);
    expect(key).toBe(signer.publicKey);
    expect(envelope).toMatchObject({ payloadType: TYPE, signatures: [{ keyid: keyId(signer.publicKey) }] });
    expect(open(signEnvelope(TYPE, new Uint8Array(), signer.privateKey)).payload).toHaveLength(0);
  });

  it('is what the specification says: the signature is that of the type and the body with their lengths in bytes', () => {
    // The private key 0, 1, 2 … 31, so that the id of its public key is known.
    const seed = Buffer.concat([
      Buffer.from('302e020100300506032b657004220420', 'hex'),
      Buffer.from(Array.from({ length: 32 }, (_, i) => i)),
    ]);
    const key = createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' });
    const made = signEnvelope('http://example.com/HelloWorld', Buffer.from('hello world'), key);
    const sig = sign(null, Buffer.from('DSSEv1 29 http://example.com/HelloWorld 11 hello world'), key).toString('base64');
    expect(made).toEqual({
      payload: 'aGVsbG8gd29ybGQ=',
      payloadType: 'http://example.com/HelloWorld',
      signatures: [{ keyid: keyId(createPublicKey(key)), sig }],
    });
    expect(keyId(createPublicKey(key))).toMatch(/^[0-9a-f]{64}$/);
    expect(signEnvelope('é', BODY, key).signatures[0]!.sig).toBe(
      sign(null, Buffer.from(`DSSEv1 2 é ${BODY.length} ${BODY.toString()}`), key).toString('base64'),
    );
  });

  it('is refused when any bit of its payload or of its signature is another one', () => {
    for (const payload of damaged(envelope.payload)) expect(() => open({ ...envelope, payload })).toThrow(WRONG);
    for (const sig of damaged(signature)) expect(() => open(withSignature(sig))).toThrow(WRONG);
  });

  it('is refused when any character of its base64 is another one, also where Node would decode the same bytes', () => {
    const changes = (text: string) =>
      [...text].flatMap((_, i) => ['A', 'B', '=', '\n', ' ', ''].map(c => text.slice(0, i) + c + text.slice(i + 1)));
    // Without the padding it is the same.
    const isOther = (text: string, original: string) => text !== original && text !== original.replace(/=+$/, '');
    for (const payload of changes(envelope.payload))
      if (isOther(payload, envelope.payload)) expect(() => open({ ...envelope, payload })).toThrow();
    for (const sig of changes(signature)) if (isOther(sig, signature)) expect(() => open(withSignature(sig))).toThrow();
    expect(() => open({ ...envelope, payload: `${envelope.payload}\n` })).toThrow('the payload of the envelope is not base64');
    expect(() => open(withSignature(`${signature.slice(0, -3)}x==`))).toThrow('a signature of the envelope is not base64');
  });

  it('is refused when it is truncated anywhere, or its bytes are', () => {
    const text = JSON.stringify(envelope);
    for (let end = 0; end < text.length; end++)
      expect(() => openEnvelope(text.slice(0, end), TYPE, [signer.publicKey])).toThrow('the envelope is not JSON');
    const cut = (base64: string) => Buffer.from(base64, 'base64').subarray(0, -1).toString('base64');
    expect(() => open({ ...envelope, payload: cut(envelope.payload) })).toThrow(WRONG);
    expect(() => open(withSignature(cut(signature)))).toThrow(WRONG);
    expect(() => open(withSignature(''))).toThrow(WRONG);
  });

  it('is refused by those who know other keys only, or none', () => {
    expect(() => open(envelope, other.publicKey)).toThrow(WRONG);
    expect(() => openEnvelope(JSON.stringify(envelope), TYPE, [])).toThrow(WRONG);
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() => open(envelope, publicKey)).toThrow(WRONG);
  });

  it('may have the signatures of an old and of a new key, of which one is known', () => {
    const both = { ...envelope, signatures: [...envelope.signatures, ...signEnvelope(TYPE, BODY, other.privateKey).signatures] };
    for (const { publicKey } of [signer, other]) expect(open(both, publicKey).key).toBe(publicKey);
    // A signature that is wrong does not harm the other one.
    const [first, second] = both.signatures as [{ sig: string }, { sig: string }];
    const wrong = `${first.sig.startsWith('A') ? 'B' : 'A'}${first.sig.slice(1)}`;
    const isHalfWrong = { ...both, signatures: [{ sig: wrong }, second] };
    expect(open(isHalfWrong, signer.publicKey, other.publicKey).key).toBe(other.publicKey);
    expect(() => open(isHalfWrong, signer.publicKey)).toThrow(WRONG);
  });

  it('is judged by its signature, not by the key that it names', () => {
    const named = (keyid?: string) => ({ ...envelope, signatures: [{ keyid, sig: signature }] });
    for (const keyid of [keyId(other.publicKey), '', undefined]) expect(open(named(keyid)).key).toBe(signer.publicKey);
    const forged = signEnvelope(TYPE, BODY, other.privateKey).signatures[0]!;
    expect(() => open({ ...envelope, signatures: [{ ...forged, keyid: keyId(signer.publicKey) }] })).toThrow(WRONG);
  });

  it('is refused when it has another type, whether it was signed so or changed later', () => {
    const message = 'the type of the payload is "text/html", not "text/plain"';
    expect(() => open(signEnvelope('text/html', BODY, signer.privateKey))).toThrow(message);
    expect(() => open({ ...envelope, payloadType: 'text/html' })).toThrow(message);
    expect(() => openEnvelope(JSON.stringify({ ...envelope, payloadType: 'text/html' }), 'text/html', [signer.publicKey])).toThrow(WRONG);
  });

  it('may be in URL-safe base64, with padding or without it, and have fields that are not known', () => {
    const safe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_');
    expect(safe(envelope.payload)).not.toBe(envelope.payload);
    for (const written of [safe, (text: string) => safe(text).replace(/=+$/, '')]) {
      const same = { payload: written(envelope.payload), payloadType: TYPE, signatures: [{ sig: written(signature), cert: 'x' }], more: 1 };
      expect(open(same).payload).toEqual(BODY);
    }
  });

  it.each([
    ['no signature', { ...envelope, signatures: [] }, 'the envelope has no signature'],
    ['many signatures', { ...envelope, signatures: Array(17).fill({ sig: signature }) }, 'the envelope has more than 16 signatures'],
    ['no payload', { ...envelope, payload: undefined }, 'the JSON is no envelope'],
    ['a signature that is a text', { ...envelope, signatures: [signature] }, 'the JSON is no envelope'],
    ['nothing', null, 'the JSON is no envelope'],
  ])('is refused with %s', (_, changed, message) => {
    expect(() => open(changed)).toThrow(message);
  });

  it('is refused, and not parsed, when it is larger than any', () => {
    const text = `${JSON.stringify(envelope)}${' '.repeat(MAX_ENVELOPE_BYTES)}`;
    expect(() => openEnvelope(text, TYPE, [signer.publicKey])).toThrow('the envelope is larger than 64 MiB');
  });
});
