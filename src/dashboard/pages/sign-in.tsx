import { Empty } from '../parts/states.js';

export default function SignInPage() {
  return <Empty title="Nothing is shown here yet." />;
}
