import { Empty } from '../parts/states.js';

export default function ServerPage() {
  return <Empty title="Nothing is shown here yet." />;
}
