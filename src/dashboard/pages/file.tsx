import { Empty } from '../parts/states.js';

export default function FilePage() {
  return <Empty title="Nothing is shown here yet." />;
}
