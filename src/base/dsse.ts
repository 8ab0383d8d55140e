import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import typia from 'typia';

/** A signed payload as JSON: an envelope of DSSE 1.0 (github.com/secure-systems-lab/dsse), whose signatures are of Ed25519. */
export interface Envelope {
  /** In base64, as each `sig`. */
  payload: string;
  payloadType: string;
  signatures: readonly { sig: string; keyid?: string }[];
}

export interface OpenEnvelope {
  payload: Buffer;
  /** The key whose signature it has. */
  key: KeyObject;
}

/** Beyond these limits an envelope is refused. */
export const MAX_ENVELOPE_BYTES = 64 * 2 ** 20;
const MAX_SIGNATURES = 16;

/** Signs a payload with a private key. */
export function signEnvelope(payloadType: string, payload: Uint8Array, key: KeyObject): Envelope {
  const sig = sign(null, signedBytes(payloadType, payload), key).toString('base64');
  return { payload: Buffer.from(payload).toString('base64'), payloadType, signatures: [{ keyid: keyId(createPublicKey(key)), sig }] };
}

/**
 * Returns the payload of an envelope that one of these public keys signed. Throws an error that says what is wrong with any other text. What an
 * envelope says of its keys is not signed, and does not count.
 */
export function openEnvelope(text: string, payloadType: string, keys: readonly KeyObject[]): OpenEnvelope {
  if (Buffer.byteLength(text) > MAX_ENVELOPE_BYTES) throw new Error(`the envelope is larger than ${MAX_ENVELOPE_BYTES / 2 ** 20} MiB`);
  const envelope = parseEnvelope(text);
  if (envelope.payloadType !== payloadType)
    throw new Error(`the type of the payload is ${JSON.stringify(envelope.payloadType)}, not ${JSON.stringify(payloadType)}`);
  if (envelope.signatures.length === 0) throw new Error('the envelope has no signature');
  if (envelope.signatures.length > MAX_SIGNATURES) throw new Error(`the envelope has more than ${MAX_SIGNATURES} signatures`);
  const payload = fromBase64(envelope.payload, 'the payload');
  const signatures = envelope.signatures.map(({ sig }) => fromBase64(sig, 'a signature'));
  const signed = signedBytes(payloadType, payload);
  const key = keys.find(each => signatures.some(signature => verify(null, signed, each, signature)));
  if (!key) throw new Error('no signature is right: the envelope was changed after it was signed, or signed with another key');
  return { payload, key };
}

/** Names a public key: the SHA-256 of its SubjectPublicKeyInfo, in hex. */
export function keyId(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex');
}

/** The pre-authentication encoding: a signature covers the type, too. */
function signedBytes(payloadType: string, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `), payload]);
}

const isEnvelope = typia.createIs<Envelope>();

function parseEnvelope(text: string): Envelope {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`the envelope is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isEnvelope(value))
    throw new Error('the JSON is no envelope: it has no payload, payloadType and signatures, or they are of other types');
  return value;
}

/** Decodes standard or URL-safe base64, with or without padding. Node would skip what is neither, and bits that mean nothing. */
function fromBase64(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const padded = bytes.toString('base64');
  if (![padded, padded.replace(/={1,2}$/, '')].includes(text.replaceAll('-', '+').replaceAll('_', '/')))
    throw new Error(`${what} of the envelope is not base64`);
  return bytes;
}
