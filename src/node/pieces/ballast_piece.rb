# frozen_string_literal: true

# Has RSpec run one piece of a test file, and tells the cases of all files to Ballast's client.
# The client puts this file and piece.json into one folder. It needs Ruby 2.3 and RSpec 3, and makes no other difference to a run.
module BallastPiece
  # Tests may replace it, as fakefs does.
  FILE = ::File

  # By top-level group: the real path of the file that was being loaded when it was defined. The file that the group itself names may be
  # another one, which the test file requires.
  @files = {}
  @loaded = []
  @process = nil
  @target = nil

  class << self
    def loaded(file, groups)
      path = FILE.realpath(file)
      @loaded |= [path]
      groups.each { |group| @files[group] = path unless @files.key?(group) }
    end

    # Filters last: RSpec has decided what its own filters leave, whether they leave anything, and what to run if not.
    # Returns the real path, the name and the example of all cases that were left.
    def select(world)
      # Not while this file is loaded: Bundler may not be set up yet, and would object to a version that it did not choose.
      require 'json'
      begin_to_tell
      piece = read_piece
      names = piece ? piece['names'].map { |name| [name, true] }.to_h : {}
      cases = []
      world.example_groups.each do |top|
        next unless (path = @files[top])

        top.descendants.each do |group|
          world.filtered_examples[group] = world.filtered_examples[group].select do |example|
            name = name_of(example)
            cases << [path, name, example]
            piece.nil? || path != piece['file'] || names.key?(name) != piece['isRest']
          end
        end
      end
      cases
    end

    def tell(cases, is_dry)
      # A test may have forked this process.
      return if Process.pid != @process

      files = @loaded.map { |path| [path, { 'listed' => [], 'cases' => [] }] }.to_h
      cases.group_by { |path, name, _| [path, name] }.each do |(path, name), examples|
        files[path]['listed'] << name
        results = examples.map { |_, _, example| example.execution_result }
        outcomes = results.map { |result| outcome_of(result) }
        # A name does not tell which of its examples did not run.
        next if is_dry || outcomes.include?(nil)

        counts = outcomes.each_with_object(Hash.new(0)) { |outcome, count| count[outcome] += 1 }
        files[path]['cases'] << [name, counts, results.map { |result| result.run_time.to_f }.inject(:+)]
      end
      write { JSON.generate(files) }
    end

    private

    # The client then knows that this process began, even if a test ends it.
    def begin_to_tell
      @process = Process.pid
      @target = FILE.join(__dir__, "cases-#{@process}-#{Process.clock_gettime(Process::CLOCK_MONOTONIC)}.json")
      write { '' }
    end

    # Tests may have removed the folder, or filled the disk: then nothing is reported, and the client runs whole files.
    def write
      FILE.write("#{@target}.part", yield, encoding: 'UTF-8')
      FILE.rename("#{@target}.part", @target)
    rescue StandardError
      nil
    end

    # Returns the piece to run. Nil: whole files. If the piece cannot be read, whole files run, so that no case is lost.
    def read_piece
      JSON.parse(FILE.read(FILE.join(__dir__, 'piece.json'), encoding: 'UTF-8'))
    rescue StandardError
      nil
    end

    # Before the example runs: then an example without a description gets one from its matcher.
    def name_of(example)
      example.metadata[:full_description].to_s.encode('UTF-8', invalid: :replace, undef: :replace).scrub
    end

    # Nil: it did not run.
    def outcome_of(result)
      # A pending example that failed, as it should, has an exception.
      return result.pending_exception ? 'expected_failure' : 'skipped' if result.status == :pending

      result.status && result.status.to_s
    end
  end

  # RSpec loads each test file with this.
  module Loading
    private

    def load(file, *)
      before = RSpec.world.example_groups.dup
      super
    ensure
      BallastPiece.loaded(file, RSpec.world.example_groups - before) if before && FILE.exist?(file)
    end
  end

  # Between the filters of RSpec and the run.
  module Running
    def run_specs(*)
      cases = BallastPiece.select(RSpec.world)
      super
    ensure
      BallastPiece.tell(cases, RSpec.configuration.dry_run?) if cases
    end
  end
end

RSpec::Core::Configuration.prepend(BallastPiece::Loading)
RSpec::Core::Runner.prepend(BallastPiece::Running)

# Tests, and the runs of RSpec that they start, get the environment that they would have without this file.
others = ENV['SPEC_OPTS'].to_s.sub(/\A--require .*?ballast_piece\.rb'? ?/, '')
ENV['SPEC_OPTS'] = others.empty? ? nil : others
