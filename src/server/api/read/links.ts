import { isLinkTemplate } from '../../../protocol/link-template.js';
import { SENT_LINK_WORDS } from '../../../protocol/project-settings.js';

/** A variable of a CI system must never break a build. */
export function dropUnusableLinks(parameters: Record<string, unknown>): void {
  for (const [name, words] of Object.entries(SENT_LINK_WORDS)) {
    const link = parameters[name];
    if (link !== undefined && !(typeof link === 'string' && isLinkTemplate(link, words))) delete parameters[name];
  }
}
