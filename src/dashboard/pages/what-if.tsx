import { Empty } from '../parts/states.js';

export default function WhatIfPage() {
  return <Empty title="Nothing is shown here yet." />;
}
