import { Empty } from '../parts/states.js';

export default function SetUpPage() {
  return <Empty title="Nothing is shown here yet." />;
}
