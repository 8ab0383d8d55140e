import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ProgressLine } from '../parts/states.js';
import type { BuildViewProps } from '../routes/pages.js';

/** Why each node got its files. It is loaded when somebody asks. */
export function Why(props: BuildViewProps) {
  const [view, setView] = useState<{ Shown: ComponentType<BuildViewProps> } | null>(null);
  useEffect(() => void import('../pages/build-why.js').then(({ default: Shown }) => setView({ Shown })), []);
  return view ? <view.Shown {...props} /> : <ProgressLine isLoading />;
}
