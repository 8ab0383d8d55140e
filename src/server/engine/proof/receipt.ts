import { createPrivateKey } from 'node:crypto';
import { type Envelope, signEnvelope } from '../../../base/dsse.js';
import { STATEMENT_PAYLOAD, toStatement } from '../../../protocol/receipt.js';
import { doubtOfNodes, nodesOf } from '../completeness/checkouts.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import { Refusal } from '../refusal.js';
import { judge, untoldText } from './judgement.js';

/** A receipt that is to be signed. */
export interface ReceiptQuestion {
  ciRun: CiRun;
  /** The page of the CI run. */
  url: string;
  /** In PEM. */
  privateKey: string;
}

/** Signs how each test file of a CI run ended. Throws a refusal that says why that, or its tree, is not known. */
export async function signedReceipt(store: Store, { ciRun, url, privateKey }: ReceiptQuestion): Promise<Envelope> {
  const refuse = (reason: string) => new Refusal(`no receipt of this CI run: ${reason}`);
  const { tree } = ciRun;
  if (tree === undefined) throw refuse('its nodes told no tree');
  const nodes = await nodesOf(store, ciRun);
  const doubt = doubtOfNodes(nodes, tree);
  if (doubt) throw refuse(doubt);
  const keys = [...new Set(nodes.map(({ checkout }) => checkout!.keys.join()))];
  if (keys.length > 1) throw refuse('its nodes ran with different keys');
  const commands = [...new Set(nodes.map(({ command }) => command))];
  const { gap, ended, listDigest } = await judge(store, ciRun);
  if (!ended) throw refuse(gap!);
  const { failed, muted, flaky, passed, skipped, untold } = ended.outcomes;
  const reason = untoldText(ended.nodes, nodes, { count: untold.length, paths: untold });
  if (reason !== null) throw refuse(reason);
  const named = (paths: readonly string[], outcome: 'passed' | 'failed' | 'flaky' | 'skipped') => paths.map(path => ({ path, outcome }));
  const statement = toStatement({
    commit: ciRun.commit_hash,
    tree,
    // Whether a failure is muted is in the tree, which the receipt names.
    test_files: [
      ...named(passed, 'passed'),
      ...named(flaky, 'flaky'),
      ...named([...failed, ...muted], 'failed'),
      ...named(skipped, 'skipped'),
    ],
    list_digest: listDigest!,
    keys: keys[0]!.split(',').filter(Boolean),
    command_digest: commands.length === 1 ? commands[0]! : null,
    proved_by: ended.provedBy.map(({ id }) => id),
    url,
  });
  return signEnvelope(STATEMENT_PAYLOAD, Buffer.from(JSON.stringify(statement)), createPrivateKey(privateKey));
}
