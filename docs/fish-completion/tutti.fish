# fish completion for tutti
# Generated from the program's commands by `make reference`. Plugins are asked of the program, so that they are those
# that it finds.

function __tutti_ask # ARGUMENT...: what the program on the line says
  set -l program (string replace -r '^~' $HOME -- (commandline -opc)[1])
  type -q $program; and $program $argv 2> /dev/null < /dev/null
end
function __tutti_plugins # KIND/NAME of every plugin
  __tutti_ask list --json | awk -F'"' '
    $2 == "kind" { kind = $4 } $2 == "name" { name = $4 }
    /}/ { if (kind != "" && name != "") print kind "/" name; kind = name = "" }'
end
function __tutti_recipes # files, and those that are installed
  __fish_complete_suffix .ini
  __tutti_ask list recipes --json | awk -F'"' '$2 == "name" { print $4 }'
end
function __tutti_kinds
  echo recipes
  __tutti_plugins | cut -d/ -f1 | sort -u
end
function __tutti_spaces
  __tutti_plugins | sed -n 's|^space/||p'
end
function __tutti_settings # keys of the recipe on the line; behind "=" their values
  set -l typed (commandline -ct | string replace -r '^-[^=]*=' '' | string replace -r '^["\']' '')
  set -l found (__tutti_ask settings "$typed" (commandline -opc)[2..-1])
  if string match -q '*=<file>' -- $found
    set -l key (string match -r '^[^=]*=' -- $typed)
    set -l begun (string replace -- $key '' $typed)
    for file in $begun*
      test -d $file; and set file $file/
      echo $key$file
    end
  else
    printf '%s\n' $found
  end
end
function __tutti_no_command
  test (count (commandline -opc)) -eq 1
end
function __tutti_command # NAME...: is the command one of these?
  set -l words (commandline -opc)
  test (count $words) -gt 1; and contains -- $words[2] $argv
end

complete -c tutti -f
complete -c tutti -n __tutti_no_command -l help -d 'List the commands'
complete -c tutti -n __tutti_no_command -l version -d 'Say which version it is'
complete -c tutti -n __tutti_no_command -a run -d 'search, select and evaluate, as a recipe says'
complete -c tutti -n '__tutti_command run' -a '(__tutti_recipes)'
complete -c tutti -n '__tutti_command run' -s s -l set -x -a '(__tutti_settings)' -d 'Override a key of the recipe; may be repeated'
complete -c tutti -n '__tutti_command run' -s o -l out -x -a '(__fish_complete_directories)' -d 'Run directory (default: runs/NAME)'
complete -c tutti -n '__tutti_command run' -s w -l workers -x -d 'Worker processes (default: one a core); never changes the result'
complete -c tutti -n '__tutti_command run' -s r -l resume -d 'Go on with the run in the directory'
complete -c tutti -n '__tutti_command run' -s n -l dry-run -d 'Check everything, train nothing'
complete -c tutti -n '__tutti_command run' -s j -l json -d 'Print the result as JSON (that of summary.json)'
complete -c tutti -n '__tutti_command run' -s q -l quiet -d 'No progress on stderr'
complete -c tutti -n '__tutti_command run' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a fit -d 'fit a surrogate to data, as a recipe says'
complete -c tutti -n '__tutti_command fit' -a '(__tutti_recipes)'
complete -c tutti -n '__tutti_command fit' -s s -l set -x -a '(__tutti_settings)' -d 'Override a key of the recipe; may be repeated'
complete -c tutti -n '__tutti_command fit' -s o -l out -x -a '(__fish_complete_directories)' -d 'Run directory (default: runs/NAME)'
complete -c tutti -n '__tutti_command fit' -s w -l workers -x -d 'Worker processes (default: one a core); never changes the result'
complete -c tutti -n '__tutti_command fit' -s r -l resume -d 'Go on with the run in the directory'
complete -c tutti -n '__tutti_command fit' -s n -l dry-run -d 'Check everything, train nothing'
complete -c tutti -n '__tutti_command fit' -s j -l json -d 'Print the result as JSON (that of summary.json)'
complete -c tutti -n '__tutti_command fit' -s q -l quiet -d 'No progress on stderr'
complete -c tutti -n '__tutti_command fit' -s N -l repeats -x -d 'Repeats, each with a seed of its own (run.budget)'
complete -c tutti -n '__tutti_command fit' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a validate -d 'check a recipe and its data without training'
complete -c tutti -n __tutti_no_command -a check -d 'check a recipe and its data without training'
complete -c tutti -n '__tutti_command validate check' -a '(__tutti_recipes)'
complete -c tutti -n '__tutti_command validate check' -s s -l set -x -a '(__tutti_settings)' -d 'Override a key of the recipe; may be repeated'
complete -c tutti -n '__tutti_command validate check' -s j -l json -d 'Print what would be run as JSON'
complete -c tutti -n '__tutti_command validate check' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a list -d 'the plugins, or recipes, that there are'
complete -c tutti -n '__tutti_command list' -a '(__tutti_kinds)'
complete -c tutti -n '__tutti_command list' -s j -l json -d 'As JSON'
complete -c tutti -n '__tutti_command list' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a inspect -d 'a plugin and its parameters'
complete -c tutti -n '__tutti_command inspect' -a '(__tutti_plugins)'
complete -c tutti -n '__tutti_command inspect' -s j -l json -d 'As JSON'
complete -c tutti -n '__tutti_command inspect' -s m -l markdown -d 'As the plugin reference has it'
complete -c tutti -n '__tutti_command inspect' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a status -d 'where a run or an ablation stands'
complete -c tutti -n '__tutti_command status' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command status' -s t -l trials -x -d 'Show the last N trials (default 10)'
complete -c tutti -n '__tutti_command status' -s j -l json -d 'All of it as JSON'
complete -c tutti -n '__tutti_command status' -s w -l watch -d 'Show it again every other second until the run stops: what each worker is at'
complete -c tutti -n '__tutti_command status' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command status' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a cancel -d 'take trials out of a run at work'
complete -c tutti -n '__tutti_command cancel' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command cancel' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command cancel' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a select -d 'choose another ensemble from a finished pool'
complete -c tutti -n '__tutti_command select' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command select' -s s -l set -x -a '(__tutti_settings)' -d 'Another selector, as in selector.plugin=top-m, another calibrator, as in calibrator.plugin=temperature, other parameters of these, or other choices of metrics, as in evaluation.bins=10 (not with --keep: the summary has the recipe\'s metrics; but evaluation.folds, which judges a calibrator); may be repeated'
complete -c tutti -n '__tutti_command select' -s p -l split -x -d 'Choose on the rows of this split, as in validation-5 (default: validation)'
complete -c tutti -n '__tutti_command select' -s k -l keep -d 'Make it the run\'s ensemble (ensemble.json, summary.json), with those that are chosen on each shift; --set may change the selector, the calibrator and evaluation.folds alone'
complete -c tutti -n '__tutti_command select' -s o -l out -x -d 'Keep the ensemble of several runs in this new directory, with copies of the runs, so that it needs no other: a model for predict, evaluate, status and select'
complete -c tutti -n '__tutti_command select' -s j -l json -d 'As JSON: the text of ensemble.json, with its evaluation'
complete -c tutti -n '__tutti_command select' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command select' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a evaluate -d 'metrics of an ensemble on every split'
complete -c tutti -n '__tutti_command evaluate' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command evaluate' -s e -l ensemble -r -F -d 'Of this ensemble (as select --json prints it), not the run\'s own'
complete -c tutti -n '__tutti_command evaluate' -s s -l set -x -a '(__tutti_settings)' -d 'Other choices of metrics, as in evaluation.bins=10; may be repeated'
complete -c tutti -n '__tutti_command evaluate' -s t -l tables -d 'With the tables of each split, which JSON always has: reliability, classes'
complete -c tutti -n '__tutti_command evaluate' -s j -l json -d 'As JSON'
complete -c tutti -n '__tutti_command evaluate' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command evaluate' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a curve -d 'ensembles of fewer trials and other sizes'
complete -c tutti -n '__tutti_command curve' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command curve' -s b -l budgets -x -d 'Choose from the first N trials (default: 8 even steps to all of them)'
complete -c tutti -n '__tutti_command curve' -s m -l members -x -d 'Choose so many members (default: as the selector\'s parameters say)'
complete -c tutti -n '__tutti_command curve' -s c -l costs -x -d 'Ensembles of all trials that cost less and less to predict with, in flops, bytes or microseconds'
complete -c tutti -n '__tutti_command curve' -s p -l split -x -d 'Choose on the rows of this split, as in validation-5 (default: validation)'
complete -c tutti -n '__tutti_command curve' -s s -l set -x -a '(__tutti_settings)' -d 'Another selector or other parameters, as in selector.plugin=top-m, or other choices of metrics, as in evaluation.bins=10; may be repeated'
complete -c tutti -n '__tutti_command curve' -s j -l json -d 'As JSON, with all metrics and the members'
complete -c tutti -n '__tutti_command curve' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command curve' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a predict -d 'predict the rows of a file, with uncertainty'
complete -c tutti -n '__tutti_command predict' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command predict' -F
complete -c tutti -n '__tutti_command predict' -s o -l out -r -F -d 'Write there; a name in .npy gives float64 [rows][columns]'
complete -c tutti -n '__tutti_command predict' -s e -l ensemble -r -F -d 'With this ensemble (as select --json prints it), not the run\'s own'
complete -c tutti -n '__tutti_command predict' -s l -l level -x -d 'Probability of the intervals from lower to upper (default 0.95)'
complete -c tutti -n '__tutti_command predict' -s q -l quantiles -x -d 'Quantiles as well, as in 0.05,0.5,0.95: columns q0.05, q0.5, q0.95'
complete -c tutti -n '__tutti_command predict' -s u -l uncalibrated -d 'Without the ensemble\'s calibrator'
complete -c tutti -n '__tutti_command predict' -s S -l strict -d 'A row that cannot be read ends it; without, its predictions are left empty'
complete -c tutti -n '__tutti_command predict' -s j -l json -d 'As JSON, by column, with the metrics as "evaluation"'
complete -c tutti -n '__tutti_command predict' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command predict' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a export -d 'a run\'s ensemble as an ONNX model'
complete -c tutti -n '__tutti_command export' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command export' -s t -l to -r -F -d 'Write this FILE.onnx, or a folder that explains itself; required'
complete -c tutti -n '__tutti_command export' -s e -l ensemble -r -F -d 'This ensemble (as select --json prints it), not the run\'s own'
complete -c tutti -n '__tutti_command export' -s u -l uncalibrated -d 'Without the ensemble\'s calibrator, as tutti predict --uncalibrated'
complete -c tutti -n '__tutti_command export' -s n -l no-sample -d 'A folder without rows of the data; refused for models that hold some'
complete -c tutti -n '__tutti_command export' -s j -l json -d 'What was written, in bytes, in all and by member, as JSON'
complete -c tutti -n '__tutti_command export' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command export' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a report -d 'runs as a page for people'
complete -c tutti -n '__tutti_command report' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command report' -s t -l to -r -F -d 'Write there (default: report.html in this folder); -: print it'
complete -c tutti -n '__tutti_command report' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command report' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a compare -d 'runs against each other, with ranks and tests'
complete -c tutti -n '__tutti_command compare' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command compare' -s b -l by -x -d 'Variants differ in this key alone; may be repeated (default: found out)'
complete -c tutti -n '__tutti_command compare' -s m -l metric -x -d 'Show these metrics (default: nll, rmse, error, and these calibrated)'
complete -c tutti -n '__tutti_command compare' -s s -l split -x -d 'Compare metrics of this split (default: test)'
complete -c tutti -n '__tutti_command compare' -s c -l csv -r -F -d 'Write every run\'s metrics to FILE'
complete -c tutti -n '__tutti_command compare' -s t -l over-time -x -d 'Ranks after N, 2 N, ..'
complete -c tutti -n '__tutti_command compare' -s r -l reselect -d 'And by the ensembles that each run\'s selector would have chosen by then; nothing is trained'
complete -c tutti -n '__tutti_command compare' -s l -l last -x -d 'Means over the last N numbers of trials, too, with the ensembles that each run\'s selector would have chosen at each'
complete -c tutti -n '__tutti_command compare' -s j -l json -d 'All of it as JSON'
complete -c tutti -n '__tutti_command compare' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command compare' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a ablate -d 'a whole matrix of runs: plugins or values swapped, seeds'
complete -c tutti -n '__tutti_command ablate' -a '(__tutti_recipes)'
complete -c tutti -n '__tutti_command ablate' -s p -l swap -x -a '(__tutti_settings)' -d 'Try each of these values; repeated: each combination'
complete -c tutti -n '__tutti_command ablate' -s N -l seeds -x -d 'Repeat with N seeds, from the recipe\'s on (default 1)'
complete -c tutti -n '__tutti_command ablate' -s s -l set -x -a '(__tutti_settings)' -d 'Override a key in every cell; may be repeated'
complete -c tutti -n '__tutti_command ablate' -s o -l out -x -a '(__fish_complete_directories)' -d 'Directory of the ablation: runs/, ablation.json'
complete -c tutti -n '__tutti_command ablate' -s w -l workers -x -d 'Worker processes of all cells together (default: one a core)'
complete -c tutti -n '__tutti_command ablate' -s r -l resume -d 'Go on with what is in the directory, or add cells to it'
complete -c tutti -n '__tutti_command ablate' -s n -l dry-run -d 'Check and list all cells, train nothing'
complete -c tutti -n '__tutti_command ablate' -s j -l json -d 'Print the result as JSON (that of ablation.json)'
complete -c tutti -n '__tutti_command ablate' -s q -l quiet -d 'No progress on stderr'
complete -c tutti -n '__tutti_command ablate' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a distance -d 'how far apart genotypes are, as their space measures it'
complete -c tutti -n '__tutti_command distance' -F
complete -c tutti -n '__tutti_command distance' -s S -l space -x -a '(__tutti_spaces)' -d 'The space that the genotypes are of, with its defaults and --set'
complete -c tutti -n '__tutti_command distance' -s r -l recipe -x -a '(__tutti_recipes)' -d 'The recipe whose space they are of (default: that of the first run named)'
complete -c tutti -n '__tutti_command distance' -s s -l set -x -a '(__tutti_settings)' -d 'Another value of a parameter, as in space.structure=0.5; may be repeated'
complete -c tutti -n '__tutti_command distance' -s j -l json -d 'As JSON, with all digits'
complete -c tutti -n '__tutti_command distance' -s T -l trust -d 'Load plugins from the folders that the run\'s recipe names, too (run.plugin_path): their code runs as yours'
complete -c tutti -n '__tutti_command distance' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
complete -c tutti -n __tutti_no_command -a doctor -d 'what this machine has, and what does not work'
complete -c tutti -n '__tutti_command doctor' -a '(__fish_complete_directories)'
complete -c tutti -n '__tutti_command doctor' -s j -l json -d 'As JSON'
complete -c tutti -n '__tutti_command doctor' -s v -l verbose -d 'Say more on stderr: where errors come from, and debugging messages'
