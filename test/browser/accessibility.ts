import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns what axe finds wrong with a page as it is shown now, in light and in dark colours: one line for each element. */
export async function accessibilityProblems(tab: Page): Promise<string[]> {
  // The debugger may run what the policy of the page forbids.
  await tab.evaluate(`${axe.source}; null`);
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    const { violations } = (await tab.evaluate('axe.run({ resultTypes: ["violations"] })')) as axe.AxeResults;
    for (const { id, help, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        problems.push(`${colorScheme}: ${id}: ${help}: ${target.join(' ')}: ${failureSummary}`);
  }
  return problems;
}
