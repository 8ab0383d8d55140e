import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestamp } from '../../../base/time.js';
import type { ProjectOverview, ProjectsAnswer } from '../../../protocol/answers/trends.js';
import type {
  AccessAnswer,
  CreatedLink,
  CreatedProject,
  CreatedToken,
  SettingsAnswer,
  TokenLine,
  WebhookTest,
} from '../../../protocol/messages/dashboard.js';
import type { ProjectSettings } from '../../../protocol/project-settings.js';
import {
  changeSettings,
  createProject,
  createToken,
  deleteProject,
  hashOf,
  renameProject,
  revokeToken,
  tokenId,
} from '../../engine/access.js';
import type { Project, Token } from '../../engine/ports/access.js';
import type { Session } from '../../engine/ports/sign-ins.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import { Refusal } from '../../engine/refusal.js';
import { SETTING_NAMES, settingDefinitions, settingTexts } from '../../engine/setting-texts.js';
import { projectsOf, roleOf } from '../../engine/sign-in/role.js';
import { createOperatorLink, createReaderLink, endSession, expiryOf, revokeLink, signInId } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import { overviewOf } from '../../insight/trends/overview.js';
import type { Context } from '../context.js';
import { decodeQuery, json } from '../json.js';
import {
  toNamed,
  toNamedProject,
  toNewLink,
  toNewSettings,
  toNewToken,
  toProjectName,
  toProjectOfSettings,
} from '../read/dashboard-request.js';
import type { RawParameters } from '../read/validation.js';
import { change, read } from './session.js';

/** Projects, tokens, links and sessions, for operators. */

function tokenLine(token: Token): TokenLine {
  const { name, created_at, used_at, revoked_at } = token;
  return {
    id: tokenId(token),
    name,
    created_at: timestamp(created_at),
    used_at: used_at === null ? null : timestamp(used_at),
    revoked_at: revoked_at === null ? null : timestamp(revoked_at),
  };
}

async function answerAccess({ store, now }: Context, _: Request, own: Session): Promise<Answer> {
  const { access, signIns } = store;
  const [projects, tokens, sessions, links] = await Promise.all([access.projects(), access.tokens(), signIns.sessions(), signIns.links()]);
  const at = now();
  const tokensOf = new Map(projects.map(({ id }) => [id, [] as TokenLine[]]));
  for (const token of tokens) tokensOf.get(token.project)?.push(tokenLine(token));
  const answer: AccessAnswer = {
    projects: projects.map(({ id, name, created_at }) => ({
      id,
      name,
      is_public: isPublicSide(id),
      created_at: timestamp(created_at),
      tokens: tokensOf.get(id)!,
    })),
    sessions: sessions
      .filter(session => expiryOf(session) > at)
      .map(session => ({
        id: signInId(session),
        role: roleOf(session),
        project: session.project,
        created_at: timestamp(session.created_at),
        used_at: timestamp(session.used_at),
        expires_at: timestamp(expiryOf(session)),
        is_own: session.hash === own.hash,
      })),
    links: links
      .filter(({ expires_at }) => expires_at > at)
      .map(link => ({
        id: signInId(link),
        project: link.project,
        created_at: timestamp(link.created_at),
        expires_at: timestamp(link.expires_at),
      })),
  };
  return json(200, answer);
}

/** How the projects of the session fare. */
async function answerProjects({ store, summarizer, now }: Context, { hasLeft }: Request, session: Session): Promise<Answer> {
  const projects: ProjectOverview[] = [];
  for (const project of await projectsOf(store.access, session)) {
    if (hasLeft()) break;
    const { answer, outdated } = await overviewOf(store, project, now());
    for (const build of outdated) summarizer.outdated(build);
    projects.push(answer);
    // A project takes about a millisecond, and there may be hundreds.
    await nextTurn();
  }
  return json(200, { projects } satisfies ProjectsAnswer);
}

async function requireProject({ store }: Context, project: number): Promise<Project> {
  const known = await store.access.project(project);
  if (!known) throw new Refusal(`there is no project ${project}`);
  return known;
}

function settingsAnswer(settings: ProjectSettings): SettingsAnswer {
  const texts = settingTexts(settings);
  return {
    settings: SETTING_NAMES.map(name => {
      const { help, isSecret = false } = settingDefinitions[name];
      return { name, help, text: texts[name], is_secret: isSecret };
    }),
  };
}

/** The message repeats the name of the project. */
async function removeProject(context: Context, message: RawParameters): Promise<object> {
  const { project, name } = toNamedProject(message);
  const known = await requireProject(context, project);
  if (name !== known.name) throw new Refusal(`nothing was deleted: "${name}" is not the name of the project "${known.name}"`);
  await deleteProject(context.store.access, known, context.now());
  return { id: project };
}

/** Makes a link of a reader if the message names a project, else of an operator. */
async function makeLink(context: Context, message: RawParameters, { origin, scheme, host }: Request): Promise<CreatedLink> {
  const { project, days = 0 } = toNewLink(message);
  const { store, now } = context;
  if (project !== undefined) await requireProject(context, project);
  const link =
    project === undefined ? await createOperatorLink(store.signIns, now()) : await createReaderLink(store.signIns, project, days, now());
  // The browser knows best by which address it reaches these pages.
  const url = `${origin || `${scheme}://${host}`}/sign-in#${link.secret}`;
  return { id: signInId(link), url, expires_at: timestamp(link.expires_at) };
}

export const accessRows = {
  '/dashboard/access': { GET: read('operator', answerAccess) },
  '/dashboard/projects': {
    GET: read('reader', answerProjects),
    POST: change(async ({ store, now }, message): Promise<CreatedProject> => {
      const { name } = toProjectName(message);
      const { id, token } = await createProject(store.access, name, now());
      return { id, name, token };
    }),
  },
  '/dashboard/projects/settings': {
    GET: read('operator', async (context, { query }) => {
      const { project } = toProjectOfSettings(decodeQuery(query));
      return json(200, settingsAnswer((await requireProject(context, project)).settings));
    }),
    POST: change(async (context, message) => {
      const { project, settings } = toNewSettings(message);
      await requireProject(context, project);
      return settingsAnswer(await changeSettings(context.store.access, project, settings));
    }),
  },
  '/dashboard/projects/webhook_test': {
    POST: change(async (context, message): Promise<WebhookTest> => {
      const project = await requireProject(context, toProjectOfSettings(message).project);
      const { webhook_url } = project.settings;
      if (webhook_url === null) throw new Refusal('cannot send a test: webhook_url is not set');
      return { problem: await context.dashboard!.testWebhook(project, webhook_url) };
    }),
  },
  '/dashboard/projects/rename': {
    POST: change(async (context, message) => {
      const { project, name } = toNamedProject(message);
      await renameProject(context.store.access, await requireProject(context, project), name);
      return { id: project, name };
    }),
  },
  '/dashboard/projects/delete': { POST: change(removeProject) },
  '/dashboard/tokens': {
    POST: change(async (context, message): Promise<CreatedToken> => {
      const { project, name = '', is_public: isPublic = false } = toNewToken(message);
      await requireProject(context, project);
      const token = await createToken(context.store.access, project, context.now(), { name: name === '' ? null : name, isPublic });
      return { id: tokenId({ hash: hashOf(token) }), token };
    }),
  },
  '/dashboard/tokens/revoke': {
    POST: change(async ({ store, now }, message) => ({ id: await revokeToken(store.access, toNamed(message).id, now()) })),
  },
  '/dashboard/links': { POST: change(makeLink) },
  '/dashboard/links/revoke': {
    POST: change(async ({ store }, message) => {
      const { id } = toNamed(message);
      await revokeLink(store.signIns, id);
      return { id };
    }),
  },
  '/dashboard/sessions/end': {
    POST: change(async ({ store }, message) => {
      const { id } = toNamed(message);
      await endSession(store.signIns, id);
      return { id };
    }),
  },
};
