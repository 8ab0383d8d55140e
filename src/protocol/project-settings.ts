/** Choices that the operators of a project made for it. Durations are seconds. Null: not set. */
export interface ProjectSettings {
  /** Price of a minute of a node. */
  price: Price | null;
  /** The time of a job that is paid and that Ballast does not see: from its start to the first request of its node. */
  setup: number | null;
  /** A job is paid in whole steps of this time. */
  billing_step: number | null;
  /** Longest time that a build should take. */
  target: number | null;
  /** Templates of addresses: see LINK_WORDS. */
  job_url: string | null;
  commit_url: string | null;
  diff_url: string | null;
  /** Address to which events are sent: see server/engine/webhooks. */
  webhook_url: string | null;
  webhook_secret: string | null;
  webhook_events: WebhookEventName[] | null;
  /** `json`, `slack`, or the JSON that is sent, with words in braces. */
  webhook_template: string | null;
}

/** The part of its settings that the pages of a project know. Its readers see it, too. */
export type ShownSettings = Omit<ProjectSettings, 'webhook_url' | 'webhook_secret' | 'webhook_events' | 'webhook_template'>;

export const WEBHOOK_EVENTS = ['gate_failed', 'file_grew', 'runner_slow', 'became_flaky'] as const;

export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export interface Price {
  amount: number;
  /** As ISO 4217 has it: EUR. */
  currency: string;
}

export type SettingName = keyof ProjectSettings;

export const noSettings: ProjectSettings = {
  price: null,
  setup: null,
  billing_step: null,
  target: null,
  job_url: null,
  commit_url: null,
  diff_url: null,
  webhook_url: null,
  webhook_secret: null,
  webhook_events: null,
  webhook_template: null,
};

/** The words in braces that a template may have. */
export const LINK_WORDS = {
  job_url: ['ci_run', 'node_index', 'commit', 'branch'],
  commit_url: ['commit'],
  diff_url: ['before', 'commit'],
} as const;

/** The same for addresses that a node sends: that of its own job needs no words. */
export const SENT_LINK_WORDS = { ...LINK_WORDS, job_url: [] } as const;
