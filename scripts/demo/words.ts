/** Words that names of test files and branches are made of. */

export const NOUNS = [
  ...['account', 'address', 'adjustment', 'allowance', 'attachment', 'audit_log', 'balance', 'basket', 'batch_import', 'booking'],
  ...['brand', 'bundle', 'calendar', 'campaign', 'carrier', 'category', 'channel', 'comment', 'contract', 'coupon'],
  ...['credit_note', 'currency', 'customer', 'dashboard', 'delivery', 'deposit', 'discount', 'dispute', 'draft', 'employee'],
  ...['exchange_rate', 'export', 'feed', 'gift_card', 'holiday', 'inventory', 'invitation', 'invoice', 'label', 'ledger'],
  ...['location', 'loyalty_card', 'membership', 'message', 'notification', 'offer', 'order', 'order_line', 'parcel', 'payment'],
  ...['payout', 'permission', 'pickup', 'price_list', 'product', 'profile', 'promotion', 'quote', 'receipt', 'refund'],
  ...['reminder', 'report', 'return_label', 'review', 'role', 'schedule', 'search_index', 'session', 'setting', 'shipment'],
  ...['shop', 'stock_level', 'subscription', 'supplier', 'tax_rate', 'team', 'template', 'ticket', 'transfer', 'user'],
  ...['variant', 'voucher', 'wallet', 'warehouse', 'webhook', 'wishlist'],
] as const;

export const QUALIFIERS = [
  ...['archived', 'bulk', 'default', 'external', 'guest', 'hourly', 'internal', 'legacy', 'monthly', 'partner'],
  ...['pending', 'public', 'recurring', 'regional', 'scheduled', 'shared', 'trial', 'vendor', 'weekly', 'yearly'],
] as const;

export const VERBS = [
  ...['add', 'apply', 'approve', 'archive', 'cancel', 'change', 'close', 'create', 'delete', 'edit'],
  ...['export', 'filter', 'import', 'list', 'merge', 'print', 'publish', 'restore', 'search', 'split'],
] as const;

/** Invented people. */
export const PEOPLE = [
  'Ines Halvorsen',
  'Tomasz Brandt',
  'Amara Okonjo',
  'Priya Venkatesh',
  'Luca Moretti',
  'Hanna Lindqvist',
  'Diego Salvatierra',
  'Mei Tanabe',
  'Rowan Ashdown',
] as const;
