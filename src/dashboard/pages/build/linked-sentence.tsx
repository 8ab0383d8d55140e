import { useAddress } from '../../routes/router.js';
import { visible } from '../../text/path-text.js';
import { linkTo } from './link.js';
import { cutSentence } from './sentence.js';

interface Props {
  text: string;
  /** The files that it may name. */
  paths: readonly string[];
  /** Its numbers are those of nodes. */
  hasNodeTimes?: boolean;
}

/** A sentence about a build, whose files, nodes and their times lead to the evidence. */
export function LinkedSentence({ text, paths, hasNodeTimes = false }: Props) {
  const { path, query } = useAddress();
  return (
    <>
      {cutSentence(text, paths).map((piece, i) => {
        if ('path' in piece)
          return (
            <a key={i} href={linkTo(path, query, { file: piece.path, tab: null })}>
              <bdi>{visible(piece.text)}</bdi>
            </a>
          );
        if ('node' in piece)
          return (
            <a key={i} href={linkTo(path, query, { q: `node:${piece.node}`, tab: null })}>
              {piece.text}
            </a>
          );
        if ('isNumber' in piece && hasNodeTimes)
          return (
            <a key={i} class="number" href={linkTo(path, query, { tab: 'nodes' })}>
              {piece.text}
            </a>
          );
        return visible(piece.text);
      })}
    </>
  );
}
