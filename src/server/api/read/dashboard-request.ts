import typia, { type tags } from 'typia';
import { limits } from '../../../protocol/limits.js';
import type { SignInMessage } from '../../../protocol/messages/dashboard.js';
import type { Count } from '../../../protocol/scalars.js';
import { apiErrors } from '../errors.js';
import { decodeBody } from '../json.js';
import { type RawParameters, reader } from './validation.js';

/** The messages of the dashboard's POST requests. Each function throws a 422 when the message is invalid. */

interface SignIn extends SignInMessage {
  link?: string & tags.MinLength<1> & tags.MaxLength<200>;
  password?: string & tags.MinLength<1> & tags.MaxLength<typeof limits.passwordMaxCharacters>;
}
interface ProjectName {
  name: string & tags.MinLength<1> & tags.MaxLength<200>;
}
interface NamedProject extends ProjectName {
  project: Count;
}
interface NewToken {
  project: Count;
  name?: string & tags.MaxLength<typeof limits.tokenNameMaxCharacters>;
  is_public?: boolean;
}
interface Named {
  id: string & tags.MinLength<1> & tags.MaxLength<100>;
}
interface NewLink {
  /** Missing: a link of an operator. */
  project?: Count;
  days?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.readerLinkDays>;
}

interface ProjectOfSettings {
  project: Count;
}
interface NewSettings {
  project: Count;
  /** By name; an empty text unsets one. */
  settings: Record<string, string & tags.MaxLength<typeof limits.settingMaxCharacters>>;
}

const readSignIn = reader(['link', 'password'], typia.createValidate<SignIn>());
export const toProjectName = reader(['name'], typia.createValidate<ProjectName>());
export const toNamedProject = reader(['project', 'name'], typia.createValidate<NamedProject>());
export const toNewToken = reader(['project', 'name', 'is_public'], typia.createValidate<NewToken>());
export const toNamed = reader(['id'], typia.createValidate<Named>());
export const toProjectOfSettings = reader(['project'], typia.createValidate<ProjectOfSettings>());
export const toNewSettings = reader(['project', 'settings'], typia.createValidate<NewSettings>());
const readNewLink = reader(['project', 'days'], typia.createValidate<NewLink>());

export function toSignIn(raw: RawParameters): SignIn {
  const message = readSignIn(raw);
  if (message.link === undefined && message.password === undefined) throw apiErrors.notSigningIn();
  return message;
}

export function toNewLink(raw: RawParameters): NewLink {
  const message = readNewLink(raw);
  const { project, days } = message;
  if (project !== undefined && days === undefined)
    throw apiErrors.invalid({ days: [`parameter is required: 1 to ${limits.readerLinkDays}`] });
  // Such a message means a reader's link, and would get an operator's.
  if (project === undefined && days !== undefined)
    throw apiErrors.invalid({ project: ['parameter is required with days: the link of an operator has no days'] });
  return message;
}

/** Decodes the body of a POST of the dashboard. Throws a 400 or 415. The body is valid only until the first await. */
export function decodeDashboardBody({ body, contentType }: { body: Uint8Array[]; contentType: string }): RawParameters {
  if (contentType.split(';')[0]!.trim().toLowerCase() !== 'application/json') throw apiErrors.unsupportedContentType(contentType);
  return decodeBody(body.length === 1 ? body[0]! : Buffer.concat(body));
}
