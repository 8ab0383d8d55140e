import { duration } from '../../text/format.js';

/** The wall time of a build as a bar; its light end is what was lost beyond the floor. `full`: the time that fills the width. */
export function WallBar({ wall, floor, full }: { wall: number; floor: number; full: number }) {
  const isCut = wall > full;
  const part = (seconds: number) => `${wall === 0 ? 0 : (100 * seconds) / Math.max(wall, full)}%`;
  const possible = Math.min(wall, floor);
  return (
    <span
      class={isCut ? 'wall-bar cut' : 'wall-bar'}
      title={`${duration(wall)}; ${duration(floor)} was possible${isCut ? '. The bar is cut' : ''}`}
    >
      <span class="possible" style={{ width: part(possible) }} />
      <span class="lost" style={{ width: part(wall - possible) }} />
    </span>
  );
}
