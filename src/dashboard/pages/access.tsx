import { Empty } from '../parts/states.js';

export default function AccessPage() {
  return <Empty title="Nothing is shown here yet." />;
}
