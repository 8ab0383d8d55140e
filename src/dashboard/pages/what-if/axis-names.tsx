/** The names of the axes of a chart of wall time and node-minutes by the number of nodes. */
export function AxisNames({ width, height }: { width: number; height: number }) {
  return (
    <>
      <text class="wall-name" x={0} y={14}>
        wall time
      </text>
      <text x={width} y={14} text-anchor="end">
        node-minutes
      </text>
      <text x={width / 2} y={height - 4} text-anchor="middle">
        nodes
      </text>
    </>
  );
}
