import { randomUUID } from 'node:crypto';
import type { ProjectSettings } from '../../protocol/project-settings.js';
import type { Project } from '../engine/ports/access.js';
import type { NewDelivery } from '../engine/ports/deliveries.js';
import { testEvent } from '../engine/webhooks/event.js';
import { signatureOf } from '../engine/webhooks/signature.js';
import { bodyOf } from '../engine/webhooks/template.js';

/** Time that a webhook may take to answer. Less than the first pause of deliveries. */
const WEBHOOK_MILLISECONDS = 10_000;

export type WebhookSettings = Pick<ProjectSettings, 'webhook_secret' | 'webhook_template'> & { webhook_url: string };

/**
 * Sends a delivery to a webhook, once. Resolves with what was wrong, as in "answered with 500"; null: it was taken.
 *
 * @param at milliseconds since 1970
 * @param closing ends the request
 */
export async function postToWebhook(
  { webhook_url, webhook_secret, webhook_template }: WebhookSettings,
  { id, event }: Pick<NewDelivery, 'id' | 'event'>,
  at: number,
  closing?: AbortSignal,
): Promise<string | null> {
  const body = bodyOf(webhook_template, event);
  const timestamp = String(Math.floor(at / 1000));
  const late = AbortSignal.timeout(WEBHOOK_MILLISECONDS);
  try {
    const response = await fetch(webhook_url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'ballast',
        'ballast-event': event.event,
        'ballast-delivery': id,
        'ballast-timestamp': timestamp,
        ...(webhook_secret !== null && { 'ballast-signature': signatureOf(webhook_secret, timestamp, body) }),
      },
      body,
      redirect: 'manual',
      signal: closing ? AbortSignal.any([late, closing]) : late,
    });
    // The answer may never end.
    await response.body?.cancel().catch(() => {});
    if (response.ok) return null;
    const hint = response.status >= 300 && response.status < 400 ? ': redirects are not followed, so set the address that it leads to' : '';
    return `answered with ${response.status}${hint}`;
  } catch (error) {
    if (late.aborted) return `did not answer within ${WEBHOOK_MILLISECONDS / 1000} s`;
    const { message, cause } = error as Error & { cause?: { message?: string; code?: string } };
    return `could not be reached: ${cause?.code ?? cause?.message ?? message}`;
  }
}

/** Sends a test to the webhook of a project, once, as `postToWebhook`. */
export function postTest({ name, settings }: Pick<Project, 'name' | 'settings'>, webhook_url: string, at: number): Promise<string | null> {
  return postToWebhook({ ...settings, webhook_url }, { id: randomUUID(), event: testEvent(name) }, at);
}
