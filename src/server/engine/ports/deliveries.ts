import type { Soon } from '../../../base/soon.js';
import type { WebhookEvent } from '../webhooks/event.js';
import type { Millis } from './store.js';

/**
 * Events for the webhooks of projects. An event that was sent is kept by its key alone, so that no event is sent twice. The sweeps of Maintenance
 * delete what is older than the retention.
 */
export interface Deliveries {
  /**
   * Adds a delivery that waits, unless the project has one with its key or is deleted. Of those of the project that wait, only the newest
   * `most` stay. Resolves with how many were dropped.
   */
  add(delivery: NewDelivery, most: number): Promise<number>;
  /** Returns the keys, of those given, that the deliveries of a project have, also if they were sent. */
  known(project: number, keys: readonly string[]): Soon<string[]>;
  /** Of each project the oldest delivery that waits, if it is due by a time: up to `limit` of them. */
  due(at: Millis, limit: number): Soon<Delivery[]>;
  /** Counts an attempt to send a delivery, and notes when the next one is due. False: it does not wait, or another process counted one. */
  attempt(delivery: Delivery, dueAt: Millis): Promise<boolean>;
  /** Notes that a delivery no longer waits. */
  end(delivery: Pick<Delivery, 'project' | 'key'>): Promise<void>;
  /** Deletes deliveries, so that the same event is sent when it happens again. */
  forget(project: number, keys: readonly string[]): Promise<void>;
}

export interface NewDelivery {
  project: number;
  /** Names the event. It is unique in the project. */
  key: string;
  /** A UUID. */
  id: string;
  event: WebhookEvent;
  created_at: Millis;
}

export interface Delivery extends NewDelivery {
  /** Number of attempts to send it. */
  attempts: number;
}
