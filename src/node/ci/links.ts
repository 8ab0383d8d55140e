import { limits } from '../../protocol/limits.js';
import { detectSystem } from './identity.js';
import { type Environment, forges, forgesByHost } from './systems.js';

/** Addresses at which people find the work of a node, as it sends them with its first request. A missing one is not known. */
export interface NodeLinks {
  /** The page of its CI job. */
  job_url?: string;
  /** The page of a commit, with {commit}. */
  commit_url?: string;
  /** The page of what changed between two commits, with {before} and {commit}. */
  diff_url?: string;
}

/** The addresses that the variables of the CI system tell. They have no password. */
export function nodeLinks(environment: Environment): NodeLinks {
  const { job, commit, repository: repositoryOf, forge } = detectSystem(environment).links;
  const filled = (template: string | undefined) => (template === undefined ? null : fill(template, environment));
  const repository = repositoryAddress(filled(repositoryOf));
  const served = repository && (forge ?? forgesByHost[new URL(repository).host]);
  const paths = served ? forges[served] : null;
  const links: { [Link in keyof NodeLinks]: string | null } = {
    job_url: webAddress(filled(job))?.href ?? null,
    commit_url: webAddress(filled(commit))?.href ?? (paths ? `${repository}${paths.commit}` : null),
    diff_url: paths?.diff ? `${repository}${paths.diff}` : null,
  };
  return Object.fromEntries(Object.entries(links).filter(([, link]) => link !== null && link.length <= limits.linkMaxCharacters));
}

/** Puts the values of variables in their places; null: one of them is not set. */
function fill(template: string, environment: Environment): string | null {
  let isWhole = true;
  const text = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = environment[name]?.trim();
    isWhole &&= Boolean(value);
    return value ?? '';
  });
  return isWhole ? text : null;
}

/** Null: it is no address of a page. */
function webAddress(text: string | null): URL | null {
  if (text === null || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url;
}

/** The page of a repository, of which Git may have another address: git@host:path, ssh://git@host/path, https://host/path.git. */
function repositoryAddress(text: string | null): string | null {
  const [, host, path] = /^(?:ssh:\/\/)?[^/@\s]+@([^/:@\s]+)(?::\d+\/|[:/])(.+)$/.exec(text ?? '') ?? [];
  const url = webAddress(host === undefined ? text : `https://${host}/${path}`);
  if (!url) return null;
  const protocol = forgesByHost[url.host] ? 'https:' : url.protocol;
  return `${protocol}//${url.host}${url.pathname.replace(/\/+$/, '').replace(/\.git$/, '')}`;
}
