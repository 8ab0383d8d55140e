import type { Deliveries, Delivery } from '../../engine/ports/deliveries.js';
import type { Millis } from '../../engine/ports/store.js';
import { EXPIRED_PER_STEP } from '../../engine/retention.js';
import type { DeliveryKey, DeliveryRecord } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

type DeliveryParts = Pick<Tables, 'deliveries' | 'projects'> & Committing;

interface Entry {
  key: DeliveryKey;
  value: DeliveryRecord;
}

export function lmdbDeliveries(parts: DeliveryParts) {
  const { deliveries, projects } = parts;
  const isKnown = (project: number, key: string) =>
    deliveries.doesExist(['waiting', project, key]) || deliveries.doesExist(['ended', project, key]);
  const end = ({ key: [, project, key], value }: Entry) => {
    void deliveries.remove(['waiting', project, key]);
    void deliveries.put(['ended', project, key], { ...value, event: null });
  };
  /** Oldest first, by project. */
  const waiting = (from: number, to: number): Entry[] =>
    [...deliveries.getRange({ start: ['waiting', from], end: ['waiting', to] } as object)].sort(byAge);
  return {
    add: ({ project, key, id, event, created_at }, most) =>
      commit(parts, () => {
        const record = projects.get(project);
        if (!record || record.deleted_at !== undefined || isKnown(project, key)) return 0;
        const before = waiting(project, project + 1);
        const dropped = before.slice(0, Math.max(0, before.length + 1 - most));
        dropped.forEach(end);
        void deliveries.put(['waiting', project, key], { id, event, created_at, attempts: 0, due_at: created_at });
        return dropped.length;
      }),
    known: (project, keys) => keys.filter(key => isKnown(project, key)),
    due(at, limit) {
      const heads = waiting(0, Infinity).filter(({ key }, i, all) => key[1] !== all[i - 1]?.key[1]);
      return heads
        .flatMap(({ key: [, project, key], value: { due_at, event, ...rest } }): Delivery[] =>
          due_at <= at && event ? [{ project, key, event, ...rest }] : [],
        )
        .slice(0, limit);
    },
    attempt: ({ project, key, attempts }, dueAt) =>
      commit(parts, () => {
        const record = deliveries.get(['waiting', project, key]);
        if (record?.attempts !== attempts) return false;
        void deliveries.put(['waiting', project, key], { ...record, attempts: attempts + 1, due_at: dueAt });
        return true;
      }),
    end: ({ project, key }) =>
      commit(parts, () => {
        const value = deliveries.get(['waiting', project, key]);
        if (value) end({ key: ['waiting', project, key], value });
      }),
    forget: (project, keys) =>
      commit(parts, () => {
        for (const key of keys) for (const state of ['waiting', 'ended'] as const) void deliveries.remove([state, project, key]);
      }),
  } satisfies Deliveries;
}

/** Deletes some deliveries that are older than `before`, or whose project is deleted. Resolves with whether more may be left. */
export async function expireDeliveries(
  parts: Pick<Tables, 'deliveries'> & Committing,
  before: Millis,
  isDeleted: (project: number) => boolean,
): Promise<boolean> {
  const { deliveries } = parts;
  const due: DeliveryKey[] = [];
  for (const { key, value } of deliveries.getRange()) {
    if (value.created_at < before || isDeleted(key[1])) due.push(key);
    if (due.length === EXPIRED_PER_STEP) break;
  }
  if (due.length > 0)
    await commit(parts, () => {
      for (const key of due) void deliveries.remove(key);
    });
  return due.length === EXPIRED_PER_STEP;
}

function byAge({ key: [, project, key], value }: Entry, { key: [, otherProject, otherKey], value: other }: Entry): number {
  return project - otherProject || value.created_at - other.created_at || (key < otherKey ? -1 : 1);
}
