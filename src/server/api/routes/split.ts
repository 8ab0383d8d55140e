import { type Soon, whenKnown } from '../../../base/soon.js';
import type { SplitMiss } from '../../../protocol/messages/split.js';
import { bytesOfLinks } from '../../engine/link-notes.js';
import { decodeFiles } from '../../engine/planned-files.js';
import { type Share, type SplitRequest, shareOf } from '../../engine/splits.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { aroundLast, codeLine, json, lines } from '../json.js';
import { prepare } from '../prepare.js';

const MISS: SplitMiss = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

/** POST /build_distributions/subset: the test files of one node in regular mode. */
export function splitForNode(context: Context, request: Request): Soon<Answer> {
  const { store, dailyBytes, splitAsks, linkNotes, now } = context;
  return whenKnown(prepare(context, 'prepareSplit', request), ({ project, prepared: { request: asked, planned } }) => {
    const { plan } = planned;
    if (plan) dailyBytes.assertRoom(project, now());
    return whenKnown(shareOf(store, asked, planned, now()), share => {
      if (plan && share?.isNew) dailyBytes.add(project, plan.files.bytes.length, now());
      if (share?.files) splitAsks.note(asked.key, asked.node_index, now());
      if (share?.files && asked.links) {
        linkNotes.note(asked.key, asked.node_index, asked.links);
        dailyBytes.add(project, bytesOfLinks(asked.links), now());
      }
      return answerShare(request, asked, share);
    });
  });
}

function answerShare(request: Request, { key, node_index, listDigest }: SplitRequest, share: Share | null): Answer {
  if (share && share.difference !== null) throw apiErrors.listDiffers(key.isFixed ? 'split' : 'split of a CI run', share.difference);
  if (!share?.files) return request.wantsText ? codeLine(MISS.code) : json(200, MISS);
  const { split, files } = share;
  if (request.wantsText)
    return lines(
      decodeFiles(files).map(({ path }) => path),
      { 'X-Ballast-Split-Id': split.id },
    );
  // A client that sent its digest rejects an answer for another list, which a cache could return.
  const head = { test_files_digest: listDigest, build_distribution_id: split.id, node_index };
  return { status: 200, body: files, around: aroundLast('test_files', head) };
}
