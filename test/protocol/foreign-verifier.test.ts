import { generateKeyPairSync } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, Verifier } from '@sigstore/verify';
import { expect, it } from 'vitest';
import { type Envelope, keyId, signEnvelope } from '../../src/base/dsse.js';
import { STATEMENT_PAYLOAD, toStatement } from '../../src/protocol/receipt.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');

/** Checks an envelope as npm checks the provenance of a package, with a key that is known instead of a certificate and logs. */
function verify(dsseEnvelope: Envelope): void {
  const trusted = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
  const verifier = new Verifier(
    { ...trusted, publicKey: () => ({ publicKey, validFor: () => true }) },
    { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 },
  );
  const verificationMaterial = { publicKey: { hint: keyId(publicKey) }, tlogEntries: [] };
  const mediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
  verifier.verify(toSignedEntity(bundleFromJSON({ mediaType, verificationMaterial, dsseEnvelope })));
}

it('a receipt is accepted by the verifier of Sigstore, and refused once a byte was changed', () => {
  const test_files = [{ path: 'spec/ümlaut_spec.rb', outcome: 'passed' as const }];
  const facts = {
    commit: 'd'.repeat(40),
    tree: '9'.repeat(40),
    test_files,
    list_digest: 'a'.repeat(64),
    keys: [],
    command_digest: null,
    proved_by: [],
    url: 'u:x',
  };
  const payload = Buffer.from(JSON.stringify(toStatement(facts)));
  const envelope = signEnvelope(STATEMENT_PAYLOAD, payload, privateKey);
  expect(() => verify(envelope)).not.toThrow();

  payload[40]! ^= 1;
  expect(() => verify({ ...envelope, payload: payload.toString('base64') })).toThrow('signature verification failed');
  expect(() => verify({ ...envelope, payloadType: 'application/json' })).toThrow('signature verification failed');
  const [{ sig }] = envelope.signatures as [{ sig: string }];
  const changed = `${sig[0] === 'A' ? 'B' : 'A'}${sig.slice(1)}`;
  expect(() => verify({ ...envelope, signatures: [{ sig: changed }] })).toThrow('signature verification failed');
});
