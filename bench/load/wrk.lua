-- The load of a benchmark, for wrk with one thread. Arguments after "--": the file of requests, the number of the first one, the
-- placeholder of the round, and the status and a text in the body of every correct answer. Without these two, requests are sent with the
-- placeholder and answers are not read, which takes a sixth less time.
-- The last line of output is an object in JSON.

-- Globals are read by `done`, which runs in another Lua state than the load.
sent, answers, mismatches, body_bytes, ran, starved = 0, 0, 0, 0, 0, 0

local requests = {}
local round, digits, digits_format = -1, nil, nil
local SEPARATOR = '\30'
-- A reading of the processor time takes as long as a few requests.
local REQUESTS_PER_READING = 200

-- The parts of a text between the placeholders.
local function split(text, placeholder)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(placeholder, from, true)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

function init(arguments)
  local status, expected = tonumber(arguments[4]), arguments[5]
  local file = assert(io.open(arguments[1], 'rb'))
  for text in file:read('*a'):gmatch('[^' .. SEPARATOR .. ']+') do
    local parts = status and split(text, arguments[3]) or {}
    requests[#requests + 1] = #parts > 1 and parts or text
  end
  file:close()
  sent = tonumber(arguments[2])
  digits_format = '%0' .. #arguments[3] .. 'd'
  if status then
    function response(answered, _, body)
      answers = answers + 1
      body_bytes = body_bytes + #body
      if answered ~= status or not body:find(expected, 1, true) then mismatches = mismatches + 1 end
    end
  end
end

-- Nanoseconds in which this thread ran so far, and in which it was ready to run but no core was free. Zeros without a Linux /proc.
local function read_cpu()
  local file = io.open('/proc/thread-self/schedstat')
  if not file then return 0, 0 end
  local thread_ran, thread_starved = file:read('*n', '*n')
  file:close()
  return thread_ran, thread_starved
end

-- wrk calls this once before it starts the thread.
local until_reading = REQUESTS_PER_READING
function request()
  if until_reading == 0 then
    until_reading = REQUESTS_PER_READING
    ran, starved = read_cpu()
  end
  until_reading = until_reading - 1
  local next_request = requests[sent % #requests + 1]
  if type(next_request) == 'table' then
    local next_round = math.floor(sent / #requests)
    if next_round ~= round then round, digits = next_round, digits_format:format(next_round) end
    next_request = table.concat(next_request, digits)
  end
  sent = sent + 1
  return next_request
end

local thread
function setup(only)
  thread = only
end

local function json(name, value)
  return ('"%s":%s'):format(name, value)
end

function done(summary, latency)
  local counts = {}
  for i = 1, #latency do counts[i] = ('[%d,%d]'):format(latency(i)) end
  local errors = summary.errors
  print('{' .. table.concat({
    json('answers', summary.requests),
    json('errors', errors.connect + errors.read + errors.write + errors.timeout),
    json('refused', errors.status),
    json('microseconds', summary.duration),
    json('checked', thread:get('answers')),
    json('mismatches', thread:get('mismatches')),
    json('bodyBytes', thread:get('body_bytes')),
    json('latencies', '[' .. table.concat(counts, ',') .. ']'),
    json('ran', ('%.0f'):format(thread:get('ran'))),
    json('starved', ('%.0f'):format(thread:get('starved'))),
    json('next', thread:get('sent')),
  }, ',') .. '}')
end
