import { describe, expect, it, onTestFinished } from 'vitest';
import { Clock } from '../harness/clock.js';
import { fixturesOf, type Kind } from './fixture.js';
import { expectAnswers, expectDelivered, goOn } from './opened-again.js';
import { answersOf } from './questions.js';
import { type Place, serve } from './served.js';

/** What the tests of upgrades do with one kind of store. */
export interface Stores {
  /** An empty folder, or a database without tables: as the server names it, and its path or URL. */
  newPlace(): Promise<{ place: Place; path: string }>;
  /** What `ballast check` finds in a store. */
  problemsIn(path: string): Promise<string[]>;
  /** Adds to every record what a newer version could add without another format. */
  addFields(path: string): Promise<void>;
  /** Makes a store one of a newer format. */
  raiseFormat(path: string): Promise<void>;
}

/** Describes that this version opens what each version before wrote. */
export function describeUpgrades(kind: Kind, { newPlace, problemsIn, addFields, raiseFormat }: Stores): void {
  describe.each(fixturesOf(kind).map(fixture => ({ version: fixture.version, fixture })))(`a ${kind} of $version`, ({ fixture }) => {
    const restored = async () => {
      const store = await newPlace();
      await fixture.restore(store.path);
      return store;
    };
    const start = async (place: Place) => {
      const { past } = fixture;
      const clock = new Clock(past.at);
      const served = await serve(place, clock);
      onTestFinished(() => served.close());
      return { ...served, past, clock };
    };

    it('is answered from as that version did, and its open queues go on to their end', async () => {
      const { place, path } = await restored();
      const { client, past, clock, close } = await start(place);
      expectAnswers(await answersOf({ client }, past), fixture.answers);
      for (const queue of past.open) await goOn(client, clock, queue);
      await close();
      expect(await problemsIn(path)).toEqual([]);
    });

    it('sends what waits for a webhook', async () => {
      const { client, past, clock } = await start((await restored()).place);
      await expectDelivered(client, clock, past, ['is flaky', 'has taken']);
    });

    it('is read by it also with fields that a newer version added', async () => {
      const { place, path } = await restored();
      await (await start(place)).close();
      await addFields(path);
      const { client, past, clock } = await start(place);
      expectAnswers(await answersOf({ client }, past), fixture.answers);
      for (const queue of past.open) await goOn(client, clock, queue);
    });

    it('is refused when a newer version has changed its format, with both versions, what to do and the guide', async () => {
      const { place, path } = await restored();
      await (await start(place)).close();
      await raiseFormat(path);
      const refusal =
        /Ballast (\S+) wrote it with (version|schema) \d+, and this Ballast \1 reads \2 \d+: serve it with Ballast \1 or later, or restore the backup from before the upgrade; see the guide "Upgrading"$/;
      await expect(start(place)).rejects.toThrow(refusal);
    });
  });
}
