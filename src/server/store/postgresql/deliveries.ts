import type { Deliveries, Delivery } from '../../engine/ports/deliveries.js';
import type { WebhookEvent } from '../../engine/webhooks/event.js';
import type { Database } from './connection/database.js';

interface DeliveryRow extends Omit<Delivery, 'event'> {
  event: string;
}

export function postgresqlDeliveries(database: Database) {
  return {
    async add({ project, key, id, event, created_at }, most) {
      await database.change(
        `insert into deliveries (project, key, id, event, created_at, attempts, due_at)
        select id, $2, $3, $4, $5, 0, $5 from projects where id = $1 and deleted_at is null on conflict (project, key) do nothing`,
        [project, key, id, JSON.stringify(event), Math.floor(created_at)],
      );
      const { rows } = await database.change(
        `with old as materialized (
          select key from deliveries where project = $1 and event is not null order by created_at desc, key desc offset $2
        )
        update deliveries set event = null from old where project = $1 and deliveries.key = old.key and event is not null returning 1`,
        [project, most],
      );
      return rows.length;
    },
    async known(project, keys) {
      const rows = await database.read<{ key: string }>(
        `select d.key from unnest($2::text[]) as v (key)
        cross join lateral (select key from deliveries where project = $1 and key = v.key limit 1) d`,
        [project, keys],
      );
      return rows.map(({ key }) => key);
    },
    async due(at, limit) {
      const rows = await database.read<DeliveryRow>(
        `select project, key, id, event, created_at, attempts from deliveries d where event is not null and due_at <= $1
        and key = (select key from deliveries where project = d.project and event is not null order by created_at, key limit 1)
        order by due_at limit $2`,
        [Math.floor(at), limit],
      );
      return rows.map(({ event, ...row }) => ({ ...row, event: JSON.parse(event) as WebhookEvent }));
    },
    async attempt({ project, key, attempts }, dueAt) {
      const { count } = await database.change(
        `update deliveries set attempts = attempts + 1, due_at = $4
        where project = $1 and key = $2 and attempts = $3 and event is not null`,
        [project, key, attempts, Math.ceil(dueAt)],
      );
      return count === 1;
    },
    async end({ project, key }) {
      await database.change('update deliveries set event = null where project = $1 and key = $2 and event is not null', [project, key]);
    },
    async forget(project, keys) {
      await database.change('delete from deliveries where project = $1 and key = any($2)', [project, keys]);
    },
  } satisfies Deliveries;
}
