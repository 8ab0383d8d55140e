import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Loads axe into every page that a tab opens. The policy of the page forbids to add it as a script. */
export async function loadAxe(tab: Page): Promise<void> {
  await tab.addInitScript(axe.source);
}

/**
 * Returns what axe finds wrong with a page as it is shown now, one line for each element. `loadAxe` must come first.
 *
 * @param rule the only rule to check; all by default
 */
export async function accessibilityProblems(tab: Page, rule?: string): Promise<string[]> {
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
  const { violations } = (await tab.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  );
}
