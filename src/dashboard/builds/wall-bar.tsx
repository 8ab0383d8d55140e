import { duration } from '../text/format.js';

/** The wall time of a build as a bar; its light end is what was lost beyond the floor. `longest`: the time that fills the width. */
export function WallBar({ wall, floor, longest }: { wall: number; floor: number; longest: number }) {
  const part = (seconds: number) => `${longest === 0 ? 0 : (100 * seconds) / longest}%`;
  const possible = Math.min(wall, floor);
  return (
    <span class="wall-bar" title={`${duration(wall)}; ${duration(floor)} was possible`}>
      <span class="possible" style={{ width: part(possible) }} />
      <span class="lost" style={{ width: part(wall - possible) }} />
    </span>
  );
}
