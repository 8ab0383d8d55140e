-- The load of a benchmark, for wrk with one thread. Arguments after "--": the file of requests, the number of the first one, the
-- placeholder of the round, and the status and a text in the body of every correct answer. Without these two, the first request is sent
-- again and again, and answers are not read, which takes a fourth less time.
-- The last line of output is an object in JSON.

-- Globals are read by `done`, which runs in another Lua state than the load.
sent, answers, mismatches, body_bytes = 0, 0, 0, 0

local SEPARATOR = '\30'

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

local function read_requests(path, placeholder)
  local requests = {}
  local file = assert(io.open(path, 'rb'))
  for text in file:read('*a'):gmatch('[^' .. SEPARATOR .. ']+') do
    local parts = split(text, placeholder)
    requests[#requests + 1] = #parts > 1 and parts or text
  end
  file:close()
  return requests
end

function init(arguments)
  local path, from, placeholder, status, expected = unpack(arguments)
  local requests = read_requests(path, placeholder)
  sent, status = tonumber(from), tonumber(status)
  if not status then
    local first = type(requests[1]) == 'table' and table.concat(requests[1], placeholder) or requests[1]
    -- wrk calls this once, and sends what it returns without a call of Lua.
    wrk.format = function() return first end
    return
  end
  local round, digits, digits_format = -1, nil, '%0' .. #placeholder .. 'd'

  function request()
    local next_request = requests[sent % #requests + 1]
    if type(next_request) == 'table' then
      local next_round = math.floor(sent / #requests)
      if next_round ~= round then round, digits = next_round, digits_format:format(next_round) end
      next_request = table.concat(next_request, digits)
    end
    sent = sent + 1
    return next_request
  end

  function response(answered, _, body)
    answers = answers + 1
    body_bytes = body_bytes + #body
    if answered ~= status or not body:find(expected, 1, true) then mismatches = mismatches + 1 end
  end
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
    json('next', thread:get('sent')),
  }, ',') .. '}')
end
